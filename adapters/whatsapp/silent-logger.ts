/**
 * Baileys' own log, which is dropped: it holds credentials ("logging in…"), addresses and texts. What matters of it is
 * told by events.
 */
export const silentLogger = {
  level: "silent",
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  child() {
    return silentLogger;
  },
};
