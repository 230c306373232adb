/** One webchat account. */
export interface WebchatOptions {
  /** The account's name in dale.yaml, and the last part of the page's address. */
  readonly name: string;
  /** What the page calls the one who answers. Default: the name. */
  readonly title?: string;
  /** The language of the page's own words, e.g. `es-AR`, `es`, `pt-BR`, `en`. Default: the browser's, else English. */
  readonly locale?: string;
}
