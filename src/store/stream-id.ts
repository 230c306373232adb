/**
 * Ids of a log's entries: `<ms>-<sequence>`, the sequence padded, so that they sort as text in the order of time. Redis
 * itself writes them without padding.
 */
const sequenceDigits = 8;

/** From Redis' own form, e.g. `1700000000000-3` → `1700000000000-00000003`. */
export function padStreamId(id: string): string {
  const [ms = "0", sequence = "0"] = id.split("-");
  return `${ms}-${sequence.padStart(sequenceDigits, "0")}`;
}

/** Back to Redis' form, or undefined for what cannot be such an id: it may come from a browser. */
export function bareStreamId(id: string): string | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
  return match ? `${Number(match[1])}-${Number(match[2])}` : undefined;
}

export function streamId(ms: number, sequence: number): string {
  return padStreamId(`${ms}-${sequence}`);
}
