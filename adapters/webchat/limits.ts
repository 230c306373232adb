/** Longest text in UTF-16 code units, either way. In UTF-8 it always fits in a body of 64 KiB. */
export const maxTextLength = 16_000;

/** Messages that the page shows when it is opened. */
export const historyMessages = 200;

/** A message of the person leaves two entries in the log: the text, and that it is enqueued. */
export const historyEntries = 2 * historyMessages;
