import type { Trial } from "./trial.js";

/**
 * What an attack comes to. `0`: nothing ran, and the person's proposal still stands: an honest yes runs it, once. `0x`:
 * nothing ran, and the proposal is gone: an honest yes to it runs nothing. `1`: it ran exactly once, as it must.
 * `refused`: it was refused before anything could come of it. `escaped`: the notice stood whole and last, and what
 * should hide or imitate it was made visible. `warned`: the configuration's check says so. `unknown`: it was not
 * repeated, and the person was told that nobody knows. `turn`: an ordinary turn, in which nothing ran.
 */
export type Outcome = "0" | "0x" | "1" | "refused" | "escaped" | "warned" | "unknown" | "turn";

/** How a message comes from a person, or seems to. Everything but `typed` is a trick. */
export type Way =
  | "typed"
  | "forwarded"
  | "caption"
  | "voice"
  | "edited"
  | "reaction"
  | "button"
  | "via_bot"
  | "echo"
  | "anonymous_admin"
  | "linked_channel"
  | "quoted_elsewhere"
  | "partly_quoted"
  | "struck"
  | "command"
  | "scheduled";

/** One person, in one chat, with one client. */
export interface Person {
  readonly session: string;
  readonly agent: string;
  /** Resolves when the platform has taken it; over the API, when the request has been made. */
  say(text: string, how?: Saying): Promise<void>;
  /** Everything that they were sent, oldest first. */
  heard(): readonly string[];
  /** Changes their last message to that text, where a platform lets them. */
  changes?(text: string): Promise<void>;
  /** What their client tells of what it shows, where the platform asks for it. */
  readonly receipts?: Receipts;
}

export interface Receipts {
  /** What was sent is shown, and so is all that follows. */
  look(): Promise<void>;
  /** Tells of the message at that place in `heard`. */
  tell(place: number, level: "delivered" | "read" | "failed"): Promise<void>;
}

export interface Saying {
  /** Default `typed`. */
  readonly way?: Way;
  /** Answers the message of that place in `heard`. */
  readonly quotes?: number;
}

/**
 * `tolerant`: set up with `tolerate`, and a short time to live. `faulty`: its platform fails when told to. `webhook`: what
 * the platform pushes can be forged. `check`: nobody is met there, only files are looked at. `memory`: nobody either; the
 * built runtime runs in this process. `replicas`: several processes that are killed.
 */
export type Special = "tolerant" | "faulty" | "webhook" | "check" | "memory" | "replicas";

/** A way to talk to Dale: a channel with its fake platform, or the API. */
export interface Stage {
  /** As the table calls it. */
  readonly name: string;
  /** In session ids and markers. */
  readonly slug: string;
  readonly ways: ReadonlySet<Way>;
  /** Which agents can be met there. */
  readonly agents: ReadonlySet<string>;
  /** Whether people write in groups there, each in one of their own unless they are `beside` somebody. */
  readonly group?: boolean;
  /** Whether the platform reports that a message arrived: then that is when a notice counts as delivered. */
  readonly receipts?: boolean;
  /** Only attacks that ask for this place are run there. */
  readonly special?: Special;
  /** Longest text that one message takes. */
  readonly longest: number;
  /** A new person, talking to that agent. Default: the collections desk. */
  meet(options?: Meeting): Promise<Person>;
  close?(): Promise<void>;
}

export interface Meeting {
  /** Default: the attack's. */
  readonly agent?: string;
  readonly name?: string;
  /** In the same group as that person. */
  readonly beside?: Person;
  /** The same person, in another chat. */
  readonly alsoAs?: Person;
  /** Whoever sits there does not look: nothing that they were sent is rendered, until `look`. */
  readonly blind?: boolean;
}

export interface Attack {
  readonly id: string;
  readonly what: string;
  readonly must: Outcome;
  /** Who is talked to. Default: the collections desk. */
  readonly agent?: string;
  /** Where it is run. Default: everywhere that is not special. */
  readonly special?: Special;
  readonly on?: (stage: Stage) => boolean;
  /** @returns what it came to; throws what should not have been seen at all */
  run(trial: Trial): Promise<Outcome>;
}
