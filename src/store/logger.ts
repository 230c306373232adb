/** What the store needs of a logger; pino fits. Fields hold ids and codes, never texts, keys of people or credentials. */
export interface StoreLogger {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
