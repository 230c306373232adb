import type { ChannelStore } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { isLid, personOf } from "./jid.js";

/**
 * Who is who. WhatsApp addresses one person by their phone number (PN) or by an id that hides it (LID), message by
 * message, and does not always say which belongs to which. Dale calls each person by one name: the address under which
 * they were first seen. That is written down, and stays. Nobody is ever matched by the name that they show.
 */
export interface People {
  /**
   * The one name of whoever has that address.
   * @param alt their other address, where the platform tells it
   * @returns undefined for what is no person's address. Rejects when the store is away
   */
  nameOf(jid: string | null | undefined, alt?: string | null): Promise<string | undefined>;
  /** The name of whoever has that address, if they were ever given one. */
  known(jid: string): Promise<string | undefined>;
  /** The platform says that the two belong together. */
  learn(lid: string, pn: string): Promise<void>;
  /** Where that person last wrote from: answers go there. In a group they may go by another address. */
  addressOf(name: string, group?: string): Promise<string>;
  /** They wrote from there. */
  wroteFrom(name: string, jid: string, group?: string): Promise<void>;
}

export interface PeopleOptions {
  readonly store: ChannelStore;
  /** What Baileys knows of an address by itself; undefined where it does not, or does not answer in time. */
  readonly ask: (person: string) => Promise<string | undefined>;
  readonly count: (event: string) => void;
  readonly now: () => number;
}

/** What is written down of one address. */
interface Card {
  readonly version: 1;
  readonly name: string;
  /** For a phone number: the LID that it belonged to when it was last seen. Numbers are given to others; LIDs are not. */
  readonly lid?: string;
  /** When this name was given, ms since 1970: of two names of one person, the older stays. */
  readonly since: number;
}

/** Cards and addresses that are remembered in this process. */
const most = 20_000;

export function createPeople(options: PeopleOptions): People {
  const { store, count, now } = options;
  const cards = new Map<string, Card>();
  const addresses = new Map<string, string>();

  async function read(person: string): Promise<Card | undefined> {
    const cached = cards.get(person);
    if (cached) return cached;
    const kept = await store.get(`person:${person}`);
    const card = kept === undefined ? undefined : parse(kept);
    if (card) remember(cards, person, card);
    return card;
  }
  async function write(person: string, card: Card): Promise<void> {
    const known = await read(person);
    if (known && known.name === card.name && known.lid === card.lid) return;
    await store.set(`person:${person}`, JSON.stringify(card));
    remember(cards, person, card);
  }

  /** Both addresses of one person. */
  async function pair(lid: string, pn: string): Promise<string> {
    const lidCard = await read(lid);
    const kept = await read(pn);
    const reassigned = kept?.lid !== undefined && kept.lid !== lid;
    if (reassigned) {
      count("number_reassigned");
      // The one who had the number before is reached by the id that stays theirs.
      await setAddress(kept.name, kept.lid);
    }
    const pnCard = reassigned ? undefined : kept;
    const fresh = { name: reassigned ? lid : pn, since: now() };
    const winner = older(lidCard, pnCard) ?? fresh;
    await write(lid, { version: 1, name: winner.name, since: winner.since });
    await write(pn, { version: 1, name: winner.name, since: winner.since, lid });
    return winner.name;
  }

  async function alone(person: string): Promise<string> {
    const known = await read(person);
    if (known) return known.name;
    await write(person, { version: 1, name: person, since: now() });
    return person;
  }

  async function readAddress(place: string): Promise<string | undefined> {
    const known = addresses.get(place) ?? (await store.get(`address:${place}`));
    if (known !== undefined) remember(addresses, place, known);
    return known;
  }
  async function setAddress(place: string, jid: string): Promise<void> {
    if ((await readAddress(place)) === jid) return;
    await store.set(`address:${place}`, jid);
    remember(addresses, place, jid);
  }
  const inGroup = (name: string, group: string) => `${name} ${group}`;

  return {
    async nameOf(jid, alt) {
      const person = personOf(jid);
      if (person === undefined) return undefined;
      const other = personOf(alt) ?? personOf(await options.ask(person));
      if (other === undefined || isLid(other) === isLid(person)) return alone(person);
      return isLid(person) ? pair(person, other) : pair(other, person);
    },
    async known(jid) {
      const person = personOf(jid);
      if (person === undefined) return undefined;
      const card = await read(person);
      if (card) return card.name;
      const other = personOf(await options.ask(person));
      return other === undefined ? undefined : (await read(other))?.name;
    },
    async learn(lid, pn) {
      const [id, number] = [personOf(lid), personOf(pn)];
      if (id === undefined || number === undefined || !isLid(id) || isLid(number)) return;
      // Of strangers nothing is kept: they may never write.
      if ((await read(id)) || (await read(number))) await pair(id, number);
    },
    async addressOf(name, group) {
      return (
        (group === undefined ? undefined : await readAddress(inGroup(name, group))) ?? (await readAddress(name)) ?? name
      );
    },
    async wroteFrom(name, jid, group) {
      const person = personOf(jid);
      if (person !== undefined) await setAddress(group === undefined ? name : inGroup(name, group), person);
    },
  };
}

function older(one: Card | undefined, other: Card | undefined): Card | undefined {
  if (!one || !other) return one ?? other;
  return one.since < other.since ? one : other;
}

function remember<T>(cache: Map<string, T>, key: string, value: T): void {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size <= most) return;
  const [oldest] = cache.keys();
  if (oldest !== undefined) cache.delete(oldest);
}

function parse(text: string): Card {
  const card = JSON.parse(text) as Card;
  if (card.version !== 1)
    throw new DaleError("store_version", "A person's card has a version that this build does not know.");
  return card;
}
