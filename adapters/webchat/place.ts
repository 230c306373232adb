/** Entries of one chat in one millisecond that still get a place of their own. */
const perMillisecond = 1024;

/** An entry's place in its chat, as a number that grows with age: from `<ms>-<sequence>`, or from a plain count. */
function placeOf(logId: string): number | undefined {
  const match = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(logId);
  if (!match) return undefined;
  const sequence = Math.min(Number(match[2] ?? 0), perMillisecond - 1);
  const place = Number(match[1]) * perMillisecond + sequence;
  return Number.isSafeInteger(place * 2 + 1) ? place : undefined;
}

/** The `order` of a message that we sent, which stands in the log under that id. Always even. */
export function orderOfSent(logId: string): number | undefined {
  const place = placeOf(logId);
  return place === undefined ? undefined : place * 2;
}

/**
 * The `order` of what a person typed. A message that waited in the browser (offline, a retry) comes into the log late:
 * it belongs right after the last entry that was on the person's screen when they pressed Enter, and before whatever was
 * sent since. So the browser can only make a message older than it is, never newer.
 * @param seen id of that last entry, if the browser said so
 */
export function orderOfTyped(logId: string, seen: string | undefined): number | undefined {
  const place = placeOf(logId);
  if (place === undefined) return undefined;
  const seenPlace = seen === undefined ? undefined : placeOf(seen);
  return seenPlace === undefined ? place * 2 : Math.min(place * 2, seenPlace * 2 + 1);
}
