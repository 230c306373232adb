import type { Contact, Message } from "./payload.js";
import type { Identity } from "./people.js";
import { digitsOf, twinOf } from "./phones.js";

/** Whoever sent a message, with what the contact of the same id tells beside it. */
export interface Sender {
  readonly identity: Identity;
  /** For display only. */
  readonly name?: string;
}

/**
 * The contact is found by an id that it shares with the message: the list may be of other people, and may be missing.
 * One id that two contacts claim is nobody's.
 */
export function senderOf(message: Message, contacts: readonly Contact[]): Sender {
  const own = idsOf([message.from], [message.from_user_id, message.from_parent_user_id]);
  const matching = contacts.filter((each) => {
    const ids = idsOf([each.wa_id], [each.user_id, each.parent_user_id]);
    const sameLine = (phone: string) => own.phones.includes(phone) || own.phones.includes(twinOf(phone) ?? "");
    return ids.phones.some(sameLine) || ids.userIds.some((id) => own.userIds.includes(id));
  });
  const [found] = matching.length === 1 ? matching : [];
  const name = found?.profile?.name;
  return {
    identity: idsOf(
      [message.from, found?.wa_id],
      [message.from_user_id, found?.user_id, message.from_parent_user_id, found?.parent_user_id],
    ),
    ...(name === undefined || name === "" ? {} : { name }),
  };
}

/** @param numbers may hold a business-scoped id, too: Meta's libraries were told to expect one there */
export function idsOf(numbers: readonly (string | undefined)[], ids: readonly (string | undefined)[] = []): Identity {
  const phones = new Set<string>();
  const userIds = new Set<string>();
  for (const id of ids) if (id !== undefined && isUserId(id)) userIds.add(id);
  for (const id of numbers) {
    const digits = digitsOf(id);
    if (digits !== undefined) phones.add(digits);
    else if (id !== undefined && isUserId(id)) userIds.add(id);
  }
  return { phones: [...phones], userIds: [...userIds] };
}

/** Country, dot, letters and digits (`US.1349…`, `US.ENT.1181…` for a parent); no more of its form is taken for granted. */
function isUserId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}

export interface Change {
  readonly from: Identity;
  readonly to: Identity;
}

/** How a business-scoped id change ends in words: behind the name that the person shows, which may say anything. */
const changed = / changed from (\S+) to (\S+?)\.?$/;

/**
 * A system message that tells of a changed number, or of the business-scoped id that goes with it; undefined for any
 * other. Such a message has no contacts.
 */
export function changeOf(message: Message): Change | undefined {
  const { system } = message;
  if (!system || !/^(?:user|customer)_changed_(?:number|user_id)$/.test(system.type ?? "")) return undefined;
  const to = idsOf([system.wa_id, system.new_wa_id], [system.user_id, system.parent_user_id]);
  const was = idsOf(
    [message.from],
    [system.previous_user_id, system.previous_parent_user_id, message.from_user_id, message.from_parent_user_id],
  );
  const [, said = "", became = ""] = changed.exec(system.body ?? "") ?? [];
  // Before August 2026 the old id stood in the words alone.
  const inWords =
    to.userIds.includes(became) || to.phones.includes(became) ? idsOf([said]) : { phones: [], userIds: [] };
  const from = {
    phones: [...new Set([...was.phones, ...inWords.phones])].filter((id) => !to.phones.includes(id)),
    userIds: [...new Set([...was.userIds, ...inWords.userIds])].filter((id) => !to.userIds.includes(id)),
  };
  const nothing = (ids: Identity) => ids.phones.length + ids.userIds.length === 0;
  return nothing(from) || nothing(to) ? undefined : { from, to };
}
