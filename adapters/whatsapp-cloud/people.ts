import type { ChannelStore } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { twinOf } from "./phones.js";

/** Under what ids Meta tells of one person, in one message. */
export interface Identity {
  /** Digits. The first is the one that messages come from. */
  readonly phones: readonly string[];
  /** Business-scoped ids: the person's own, then the parent's. They belong to one person for ever. */
  readonly userIds: readonly string[];
}

/** Where a person is written to. At least one of the two. */
export interface PersonAddress {
  readonly phone?: string;
  readonly userId?: string;
}

/**
 * Who is who. Meta tells of one person by their phone number, by a business-scoped id, or by both, and a person who
 * changes their number gets another of each. Dale calls each person by one name: the id under which they were first
 * seen. That is written down, and stays. Nobody is ever matched by the name that they show.
 *
 * The business-scoped id decides: a number that comes with another one than before has been given to somebody else.
 */
export interface People {
  /** The one name of that person. Undefined for no ids at all. Rejects when the store is away. @param at Meta's clock, ms */
  nameOf(identity: Identity, at: number): Promise<string | undefined>;
  /** The same, of a person who has written before; nothing is written down. */
  known(identity: Identity, at: number): Promise<string | undefined>;
  /** Meta says that `from` is `to` now. What came later is never undone by an older word, which may come again. */
  moved(from: Identity, to: Identity, at: number): Promise<void>;
  /** Where answers to that person go. Rejects when the store is away. */
  addressOf(name: string): Promise<PersonAddress | undefined>;
  /** Meta calls that person's number so. Best effort. */
  alsoCalled(name: string, phone: string, at: number): Promise<void>;
}

/** What is written down of one id. */
interface Card {
  readonly version: 1;
  readonly name: string;
  /** When the name was given: of two names of one person, the older stays. Meta's clock, ms. */
  readonly since: number;
  /** Since when the id is this person's, as far as is known; or, with `left`, when they gave it up. Meta's clock, ms. */
  readonly at: number;
  /** Of a phone number: the business-scoped id that it came with last. */
  readonly userId?: string;
  /** Its owner has changed to another one. Whoever writes from such a phone number later is somebody else. */
  readonly left?: true;
  /** Of a phone number: how many people without a business-scoped id have had it. */
  readonly owners?: number;
}

interface AddressCard extends PersonAddress {
  readonly version: 1;
  readonly at: number;
}

export function createPeople(store: ChannelStore, count: (event: string) => void): People {
  const read = async (id: string): Promise<Card | undefined> => parse<Card>(await store.get(`alias:${id}`));
  const readAll = (ids: readonly string[]) => Promise.all(ids.map(async (id) => ({ id, card: await read(id) })));
  async function write(id: string, before: Card | undefined, card: Omit<Card, "version">): Promise<void> {
    const next = JSON.stringify({ version: 1, ...card });
    if (before === undefined || JSON.stringify(before) !== next) await store.set(`alias:${id}`, next);
  }
  const address = async (name: string) => parse<AddressCard>(await store.get(`address:${name}`));
  async function setAddress(name: string, next: PersonAddress, at: number): Promise<void> {
    const before = await address(name);
    if (before && before.at > at) return;
    if (before?.phone === next.phone && before?.userId === next.userId) return;
    const card: AddressCard = { version: 1, ...next, at };
    await store.set(`address:${name}`, JSON.stringify(card));
  }

  /** The card of a number, unless the number has changed hands since, or comes with somebody else's id. */
  function held(card: Card | undefined, userIds: readonly string[], at: number): Card | undefined {
    if (card === undefined || (card.left && at > card.at)) return undefined;
    return userIds.length === 0 || card.userId === undefined || userIds.includes(card.userId) ? card : undefined;
  }

  async function withUserId(identity: Identity, at: number): Promise<string> {
    const { phones, userIds } = identity;
    const [userId = ""] = userIds;
    const [known, numbers] = await Promise.all([readAll(userIds), readAll(phones)]);
    const byId = known.find(({ card }) => card)?.card;
    const byNumber = numbers.map(({ card }) => held(card, userIds, at)).find((card) => card);
    const first = older(byId, byNumber) ?? (await byTwin(phones, userIds, at));
    // A number that is somebody else's is somebody else's name, too.
    const free = numbers.find(({ card }) => card === undefined)?.id;
    const { name, since } = first ?? { name: free ?? userId, since: at };

    for (const { id, card } of known) await write(id, card, { ...bare(card), name, since, at: card?.at ?? at });
    for (const { id, card } of numbers) {
      if (card === undefined) await write(id, card, { name, since, at, userId });
      else if (held(card, userIds, at)) {
        // A message that comes late tells nothing new of a number that was given up since.
        if (!card.left) await write(id, card, { ...bare(card), name, since, userId });
      } else if (card.at <= at) {
        count("number_reassigned");
        await write(id, card, { name, since, at, userId, ...(card.owners ? { owners: card.owners } : {}) });
        await forgetNumber(card.name, id, at);
      }
    }
    // A late message tells of an id that the person has no more.
    if (known[0]?.card?.left) return name;
    const phone = phones[0] ?? (await address(name))?.phone;
    await setAddress(name, { ...(phone === undefined ? {} : { phone }), userId }, at);
    return name;
  }

  async function byNumberAlone(phone: string, at: number): Promise<string> {
    const card = await read(phone);
    const mine = held(card, [], at);
    if (mine) {
      if (!mine.left) await setAddress(mine.name, { ...bare(await address(mine.name)), phone }, at);
      return mine.name;
    }
    if (card) {
      count("number_reassigned");
      const owners = (card.owners ?? 1) + 1;
      const name = `${phone}~${owners}`;
      await write(phone, card, { name, since: at, at, owners });
      await setAddress(name, { phone }, at);
      return name;
    }
    const { name, since } = (await byTwin([phone], [], at)) ?? { name: phone, since: at };
    await write(phone, undefined, { name, since, at });
    await setAddress(name, { ...bare(await address(name)), phone }, at);
    return name;
  }

  async function byTwin(phones: readonly string[], userIds: readonly string[], at: number): Promise<Card | undefined> {
    for (const phone of phones) {
      const twin = twinOf(phone);
      const card = twin === undefined ? undefined : held(await read(twin), userIds, at);
      if (card) return card;
    }
    return undefined;
  }

  /** Nothing that is meant for whoever had the number goes to whoever has it now. */
  async function forgetNumber(name: string, phone: string, at: number): Promise<void> {
    const known = await address(name);
    if (known?.phone !== phone) return;
    await setAddress(name, known.userId === undefined ? {} : { userId: known.userId }, at);
  }

  return {
    async nameOf(identity, at) {
      if (identity.userIds.length > 0) return withUserId(identity, at);
      const [phone] = identity.phones;
      return phone === undefined ? undefined : byNumberAlone(phone, at);
    },

    async known({ phones, userIds }, at) {
      const [ids, numbers] = await Promise.all([readAll(userIds), readAll(phones)]);
      const byId = ids.find(({ card }) => card)?.card;
      return (byId ?? numbers.map(({ card }) => held(card, userIds, at)).find((card) => card))?.name;
    },

    async moved(from, to, at) {
      const [ids, numbers] = await Promise.all([readAll(from.userIds), readAll(from.phones)]);
      const byId = ids.find(({ card }) => card)?.card;
      const known = byId ?? numbers.find(({ card }) => card && card.at <= at && held(card, from.userIds, at))?.card;
      // Of strangers nothing is kept: they may never write. The same change told again finds the old number left.
      if (known === undefined) return;
      const { name, since } = known;
      const [userId] = to.userIds;
      const before = await address(name);
      for (const { id, card } of await readAll([...to.userIds, ...to.phones])) {
        if (card && card.at > at) continue;
        const phone = to.phones.includes(id);
        await write(id, card, { name, since, at, ...(phone && userId !== undefined ? { userId } : {}) });
      }
      const given = [...from.userIds, ...from.phones, ...(before?.phone === undefined ? [] : [before.phone])];
      const kept = [...to.userIds, ...to.phones];
      for (const { id, card } of await readAll([...new Set(given)].filter((each) => !kept.includes(each)))) {
        if (card && card.name === name && card.at <= at) {
          await write(id, card, { ...bare(card), at, left: true });
        }
      }
      const [phone] = to.phones;
      await setAddress(
        name,
        { ...(phone === undefined ? {} : { phone }), ...(userId === undefined ? {} : { userId }) },
        at,
      );
    },

    async addressOf(name) {
      return address(name);
    },

    async alsoCalled(name, phone, at) {
      if ((await read(phone)) !== undefined) return;
      const known = await address(name);
      await write(phone, undefined, {
        name,
        since: at,
        at,
        ...(known?.userId === undefined ? {} : { userId: known.userId }),
      });
    },
  };
}

function older(one: Card | undefined, other: Card | undefined): Card | undefined {
  if (!one || !other) return one ?? other;
  return other.since < one.since ? other : one;
}

function bare<T extends { readonly version: 1 }>(card: T): Omit<T, "version">;
function bare<T extends { readonly version: 1 }>(card: T | undefined): Partial<Omit<T, "version">>;
function bare(card: { readonly version: 1 } | undefined): object {
  const { version: _, ...rest } = card ?? { version: 1 };
  return rest;
}

function parse<T extends { readonly version: 1 }>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  const card = JSON.parse(text) as { readonly version?: unknown };
  if (card.version !== 1) {
    throw new DaleError(
      "store_version",
      "What is written down of a person has a version that this build does not know.",
    );
  }
  return card as T;
}
