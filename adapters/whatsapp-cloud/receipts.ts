import type { Receipt } from "../../src/channels/index.js";
import { deliveryFailure } from "./fault-words.js";
import { idsOf } from "./identity.js";
import type { Status } from "./payload.js";
import type { People } from "./people.js";

/** A voice message that was played was read. */
const levels: Readonly<Record<string, Receipt["level"]>> = {
  sent: "accepted",
  delivered: "delivered",
  read: "read",
  played: "read",
  failed: "failed",
};

/**
 * What a status says of a message of ours. A string: nothing that the gate may hear of, and the name to count it by.
 *
 * A message to a group gets statuses of each participant; only those of the person that it was meant for say that they
 * have it. Whom it was meant for comes back in `biz_opaque_callback_data`.
 */
export async function receiptOf(status: Status, people: People, receivedAt: number): Promise<Receipt | string> {
  const level = Object.hasOwn(levels, status.status) ? levels[status.status] : undefined;
  if (level === undefined) return "unknown_status";
  const at = status.timestamp * 1000;
  const receipt: Receipt = { ref: status.id, level, at, receivedAt };
  if (status.recipient_type === "group" && level !== "accepted" && !(await isOfAddressee(status, people, at))) {
    return "group_status";
  }
  return level === "failed" ? { ...receipt, ...deliveryFailure(status.errors?.[0]?.code) } : receipt;
}

async function isOfAddressee(status: Status, people: People, at: number): Promise<boolean> {
  const participant = idsOf(
    [status.recipient_participant_id],
    [status.recipient_participant_user_id, status.recipient_participant_parent_user_id],
  );
  // It failed for the whole group.
  if (participant.phones.length + participant.userIds.length === 0) return status.status === "failed";
  const addressee = status.biz_opaque_callback_data;
  return addressee !== undefined && (await people.known(participant, at)) === addressee;
}
