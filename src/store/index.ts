/**
 * Where Dale keeps things: Redis (its connections, its key names, an embedded server) and the other rooms' ports on it,
 * each change one atomic script. It decides nothing: rules come from the rooms whose ports these are.
 */
export { createMemoryChannelStore, type MemoryChannelStore } from "./memory-channel-store.js";
