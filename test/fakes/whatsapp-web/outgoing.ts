import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, type proto } from "@whiskeysockets/baileys";
import { bytesOf } from "./signal-device.js";
import { type Group, type Identity, isOwn, phoneAt, type SentMessage, seconds, type World } from "./world.js";

/** Takes a message of the linked device: every addressee's phone reads its copy, then it is acknowledged and arrives. */
export async function takeMessage(world: World, node: BinaryNode): Promise<void> {
  const { id = "", to = "" } = node.attrs;
  const fate = world.faults.fates.shift();
  const ack = (more: Record<string, string> = {}) =>
    world.send({ tag: "ack", attrs: { class: "message", id, from: to, t: seconds(), ...more } });
  if (fate?.kind === "refused") return ack({ error: String(fate.error) });
  if (fate?.kind === "lost") return;
  const sent = await read(world, id, to, node);
  world.sent.push(sent);
  world.emit("sent", sent);
  if (fate?.kind === "cut") return world.cut();
  if (fate?.kind === "silent") return;
  const answer = () => {
    ack();
    if (!world.faults.noDelivery) for (const one of arrivals(world, sent)) world.send(one);
  };
  if (world.faults.ackDelay > 0) setTimeout(answer, world.faults.ackDelay);
  else answer();
}

/** The receipts of the phones that have the message. */
function arrivals(world: World, sent: SentMessage): BinaryNode[] {
  const group = world.groups.find(({ jid }) => jid === sent.to);
  const base = { id: sent.id, from: sent.to, t: seconds() };
  if (group) {
    const readers = group.members.filter(({ lid }) => sent.readBy.includes(lid));
    return readers.map(({ lid }) => ({ tag: "receipt", attrs: { ...base, participant: lid } }));
  }
  return sent.readBy.some((jid) => !isOwn(world, jid)) ? [{ tag: "receipt", attrs: base }] : [];
}

async function read(world: World, id: string, to: string, node: BinaryNode): Promise<SentMessage> {
  const readBy: string[] = [];
  const copies: proto.IMessage[] = [];
  const take = (jid: string, message: proto.IMessage) => {
    readBy.push(jid);
    if (!isOwn(world, jid)) copies.push(message);
  };
  const group = world.groups.find(({ jid }) => jid === to);
  // A copy that is sent again to one phone stands in the message itself.
  const single = getBinaryNodeChildren(node, "enc").find(({ attrs }) => attrs.type !== "skmsg");
  if (single) await readOne(world, node.attrs.participant ?? to, single, take);
  for (const copy of getBinaryNodeChildren(getBinaryNodeChild(node, "participants"), "to")) {
    const enc = getBinaryNodeChild(copy, "enc");
    if (enc) await readOne(world, copy.attrs.jid ?? "", enc, take);
  }
  const shared = getBinaryNodeChildren(node, "enc").find(({ attrs }) => attrs.type === "skmsg");
  if (group && shared) await readShared(world, group, shared, take);
  const message = copies.find(hasText) ?? {};
  const quotes = message.extendedTextMessage?.contextInfo?.stanzaId;
  return { id, to, text: textOf(message), message, readBy, ...(quotes ? { quotes } : {}) };
}

type Take = (jid: string, message: proto.IMessage) => void;

async function readOne(world: World, jid: string, enc: BinaryNode, take: Take): Promise<void> {
  const phone = phoneAt(world, jid);
  if (!phone) return;
  const message = await phone.device.decryptFrom(world.jid, enc);
  const key = message.senderKeyDistributionMessage;
  if (key) await phone.device.learnGroupKey(world.lidJid, key);
  take(jid, message);
}

/** What went to a whole group: each member who has the sender's key reads it. */
async function readShared(world: World, group: Group, enc: BinaryNode, take: Take): Promise<void> {
  for (const member of group.members) {
    const message = await readAsMember(world, group, member, enc);
    if (message) take(member.lid, message);
  }
}

function readAsMember(world: World, group: Group, { device }: Identity, enc: BinaryNode) {
  return device.decryptFromGroup(group.jid, world.lidJid, bytesOf(enc.content)).catch(() => undefined);
}

function hasText(message: proto.IMessage): boolean {
  return textOf(message) !== "";
}

function textOf(message: proto.IMessage): string {
  return message.conversation || message.extendedTextMessage?.text || "";
}
