import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, S_WHATSAPP_NET } from "@whiskeysockets/baileys";
import { bytesOf } from "./signal-device.js";
import { isOwn, phoneAt, userOf, type World } from "./world.js";

/** Answers what a device asks (`iq` of type get or set). */
export async function answerQuery(world: World, node: BinaryNode, onActive: () => void): Promise<void> {
  const { id = "", to = S_WHATSAPP_NET, type, xmlns } = node.attrs;
  const answer = (content?: BinaryNode[]) =>
    world.send({ tag: "iq", attrs: { from: to, type: "result", id }, ...(content ? { content } : {}) });
  if (type === "result" || type === "error") return;
  switch (xmlns) {
    case "encrypt":
      return answer(await keys(world, node));
    case "usync":
      if (world.faults.cutAtUsync) {
        world.faults.cutAtUsync = false;
        return world.cut();
      }
      return world.faults.noUsync ? undefined : answer(usync(world, node));
    case "privacy":
      return answer([type === "get" ? privacy : leaf("tokens")]);
    case "w:g2": {
      const group = world.groups.find(({ jid }) => jid === to);
      if (group) return answer([groupNode(world, group)]);
      const error = { tag: "error", attrs: { code: "404", text: "item-not-found" } };
      return world.send({ tag: "iq", attrs: { from: to, type: "error", id }, content: [error] });
    }
    case "abt":
      return answer([leaf("props")]);
    case "blocklist":
      return answer([{ ...leaf("list"), content: [...world.blocked].map((jid) => leaf("item", { jid })) }]);
    case "passive":
      answer();
      return onActive();
    default:
      return answer();
  }
}

const privacy: BinaryNode = {
  tag: "privacy",
  attrs: {},
  content: [leaf("category", { name: "readreceipts", value: "all" })],
};

function leaf(tag: string, attrs: Record<string, string> = {}): BinaryNode {
  return { tag, attrs };
}

/** Keys that the device uploads, and those of others that it asks for. */
async function keys(world: World, node: BinaryNode): Promise<BinaryNode[] | undefined> {
  const uploaded = world.linked?.bundle.preKeys ?? [];
  // Never none: a device that has none there makes 812 of them, which takes a second.
  if (getBinaryNodeChild(node, "count")) return [leaf("count", { value: String(Math.max(3, uploaded.length)) })];
  if (getBinaryNodeChild(node, "digest")) return [leaf("digest")];
  const asked = getBinaryNodeChild(node, "key");
  if (asked) {
    const users: BinaryNode[] = [];
    for (const { attrs } of getBinaryNodeChildren(asked, "user")) {
      const phone = phoneAt(world, attrs.jid ?? "");
      if (phone) users.push(await phone.device.bundleFor(attrs.jid ?? ""));
    }
    return [{ tag: "list", attrs: {}, content: users }];
  }
  for (const key of getBinaryNodeChildren(getBinaryNodeChild(node, "list"), "key")) {
    const idBytes = bytesOf(getBinaryNodeChild(key, "id")?.content);
    uploaded.push({
      id: idBytes.readUIntBE(0, idBytes.length),
      key: bytesOf(getBinaryNodeChild(key, "value")?.content),
    });
  }
  return undefined;
}

/** Who is on WhatsApp, with which devices, under which LID. */
function usync(world: World, node: BinaryNode): BinaryNode[] {
  const question = getBinaryNodeChild(node, "usync");
  const query = getBinaryNodeChild(question, "query");
  const wanted = new Set(Array.isArray(query?.content) ? query.content.map(({ tag }) => tag) : []);
  const users = getBinaryNodeChildren(getBinaryNodeChild(question, "list"), "user").map((user): BinaryNode => {
    const phone = bytesOf(getBinaryNodeChild(user, "contact")?.content).toString("utf8").replace("+", "");
    const jid = user.attrs.jid ?? `${phone}@s.whatsapp.net`;
    const identity = phoneAt(world, jid);
    const content: BinaryNode[] = [];
    if (wanted.has("contact")) content.push(leaf("contact", { type: identity ? "in" : "out" }));
    if (wanted.has("devices")) {
      const devices = identity ? [leaf("device", { id: "0" })] : [];
      if (identity && isOwn(world, jid)) devices.push(leaf("device", { id: "1", "key-index": "1" }));
      content.push({ tag: "devices", attrs: {}, content: [{ tag: "device-list", attrs: {}, content: devices }] });
    }
    if (wanted.has("lid") && identity) content.push(leaf("lid", { val: identity.lid }));
    return { tag: "user", attrs: { jid }, content };
  });
  return [{ tag: "usync", attrs: {}, content: [{ tag: "list", attrs: {}, content: users }] }];
}

function groupNode(world: World, { jid, subject, members }: World["groups"][number]): BinaryNode {
  return {
    tag: "group",
    attrs: { id: userOf(jid), subject, creation: "1", s_t: "1", addressing_mode: "lid" },
    content: [world.owner, ...members].map(({ pn, lid }) => leaf("participant", { jid: lid, phone_number: pn })),
  };
}
