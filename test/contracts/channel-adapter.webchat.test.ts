import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { chatOf } from "../../adapters/webchat/chats.js";
import { createWebchatAdapter } from "../../adapters/webchat/index.js";
import type { ChannelAdapter, ChannelHost } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { createVisitor, type Visitor } from "../fixtures/webchat-visitor.js";
import {
  type ChannelRig,
  channelAdapterContract,
  type Person,
  type SendFault,
  type SentMessage,
} from "./channel-adapter.js";

const noSuchThing = "people type on the page, and do nothing else there";
const ownLog = "the platform is our own log: a message is in it once, however often it is sent";

channelAdapterContract({
  title: "webchat",
  skips: {
    groups: "a chat is one person's",
    forwards: noSuchThing,
    captions: noSuchThing,
    voice: noSuchThing,
    edits: noSuchThing,
    reactions: noSuchThing,
    buttons: noSuchThing,
    attachments: noSuchThing,
    echoes: "what was sent stands in the log, and nothing there is taken for a person's message",
    overhears: "nobody but the person and us writes in that log",
    standby: "every process serves pages: there is nobody to stand by for",
    refused: "nobody can refuse a message on our own page",
    rate_limited: ownLog,
    silent: ownLog,
    cut: ownLog,
  },
  create: async () => createRig(),
});

/** Two browsers with tabs that never give up: what is not acknowledged is posted again, in order. */
function createRig(): ChannelRig {
  const secrets = ["AnaAnaAnaAnaAnaAnaAnaA", "BetoBetoBetoBetoBetoBe"] as const;
  const personOf = (secret: string): Person => {
    const chat = chatOf("web", secret);
    return { chat, sender: chat, group: false };
  };
  const people = [personOf(secrets[0]), personOf(secrets[1])] as const;
  const sent: SentMessage[] = [];
  const followed = new Set<ChannelHost>();
  const outboxes = new Map<string, Promise<void>>();
  let adapter: ChannelAdapter | undefined;
  let faultNext: SendFault | undefined;
  let nextSecret = "";
  let closed = false;
  let last: { readonly person: Person; readonly body: unknown } | undefined;

  const adapterNow = () => {
    if (!adapter) throw new Error("there is no adapter yet");
    return adapter;
  };
  const visitors = new Map<string, Visitor>(people.map(({ chat }) => [chat, createVisitor(adapterNow)]));
  const visitorOf = (person: Person): Visitor => {
    const visitor = visitors.get(person.chat);
    if (!visitor) throw new Error("nobody knows that person");
    return visitor;
  };
  const post = async (person: Person, path: string, body: unknown): Promise<boolean> => {
    const visitor = visitorOf(person);
    nextSecret = person.chat === people[0].chat ? secrets[0] : secrets[1];
    if (visitor.cookie === undefined) await visitor.enter();
    return (await visitor.request("POST", path, body)).ok;
  };

  function faulty(host: ChannelHost): ChannelHost {
    const { log } = host.store;
    const append: typeof log.append = async (chat, value, once) => {
      const fault = once?.startsWith("agent:") ? faultNext : undefined;
      if (fault) faultNext = undefined;
      if (fault) throw new DaleError("store_unavailable", "The store is away.");
      return await log.append(chat, value, once);
    };
    return { ...host, store: { ...host.store, log: { ...log, append } } };
  }

  return {
    people,
    secrets,
    adapter(testHost) {
      const { host } = testHost;
      if (!followed.has(host)) {
        followed.add(host);
        for (const { chat } of people) {
          const onEntry = ({ value }: { readonly value: string }) => {
            const entry = JSON.parse(value) as { kind: string; id: string; text: string; replyTo?: string };
            if (entry.kind !== "agent") return;
            const answers = entry.replyTo === undefined ? {} : { replyTo: entry.replyTo };
            sent.push({ chat, text: entry.text, ref: entry.id, ...answers });
          };
          void host.store.log.follow(chat, onEntry, () => undefined);
        }
      }
      adapter = createWebchatAdapter({ name: "web" }, faulty(host), { newSecret: () => nextSecret, sendWithin: 200 });
      return adapter;
    },
    async personSends(text, { person = people[0], quotes } = {}) {
      const body = { id: randomUUID(), text, ...(quotes === undefined ? {} : { quotes }) };
      last = { person, body };
      const before = outboxes.get(person.chat) ?? Promise.resolve();
      outboxes.set(
        person.chat,
        before.then(async () => {
          while (!closed && !(await post(person, "/messages", body))) await sleep(10);
        }),
      );
    },
    async personMoves(move) {
      throw new Error(`nobody ${move.kind} on this page`);
    },
    async redeliver() {
      if (last) await post(last.person, "/messages", last.body);
    },
    sent: () => sent,
    async fault(fault) {
      faultNext = fault;
    },
    async reports(ref, level) {
      await post(people[0], "/receipts", { ids: [ref], level });
    },
    async close() {
      closed = true;
      await Promise.all(outboxes.values());
    },
  };
}
