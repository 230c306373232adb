import type { Address, InboundMessage } from "../channels/index.js";
import { sessionOf } from "../channels/index.js";
import { type HumanFacts, humanFacts } from "../gate/index.js";
import { type Audience, chatOf } from "./gate-desk.js";
import { queryOf } from "./perception.js";
import type { Origin, TurnRequest } from "./ports.js";
import type { TurnChannel } from "./turn-context.js";

/** A turn request, read: who asks what, whether a person wrote it, and who would see a notice. */
export interface Incoming {
  readonly turn: string;
  /** An agent's name, or a workflow's. */
  readonly agent: string;
  readonly target: "agent" | "workflow";
  readonly session: string;
  readonly address: Address;
  readonly chat: string;
  readonly origin: Origin;
  readonly query: string;
  readonly receivedAt: number;
  /** The channel's message; absent in a run that came otherwise. */
  readonly message?: InboundMessage;
  /** What the gate may know; absent when no person wrote the query. `desdeHumano` is exactly its presence. */
  readonly facts?: HumanFacts;
  readonly secrets?: string;
  /** The approval that was decided; then no agent runs. */
  readonly approval?: string;
  readonly group: boolean;
  /** Absent when nobody would see a notice: then nothing can be proposed. */
  audience(locale: string): Audience | undefined;
}

export function incomingOf(turn: string, request: TurnRequest, channelOf: (address: Address) => TurnChannel): Incoming {
  if (request.kind === "message") {
    const { message } = request;
    const address: Address = {
      channel: message.channel,
      account: message.account,
      chat: message.chat,
      sender: message.sender,
    };
    const channel = channelOf(address);
    return {
      turn,
      agent: request.agent,
      target: "agent",
      session: sessionOf(message),
      address,
      chat: chatOf(address),
      origin: "person",
      query: queryOf(message),
      receivedAt: message.receivedAt,
      message,
      group: message.group,
      facts: humanFacts({ ...message, sentAtResolution: channel.sentAtResolution }),
      audience: (locale) => ({
        style: channel.noticeStyle(locale, message.group ? (message.senderName ?? message.sender) : undefined),
      }),
    };
  }
  if (request.kind === "approval") {
    const { address, group } = request.place;
    const { agent, session, receivedAt, approval } = request;
    return {
      turn,
      agent,
      target: "agent",
      session,
      address,
      chat: chatOf(address),
      origin: "approval",
      query: "",
      receivedAt,
      approval,
      group,
      audience: () => undefined,
    };
  }
  const address: Address = { channel: "api", account: request.agent, chat: request.session, sender: request.session };
  const channel = channelOf(address);
  const human = request.origin === "api" && request.target === "agent" && request.desdeHumano;
  const { receivedAt } = request;
  return {
    turn,
    agent: request.agent,
    target: request.target,
    session: request.session,
    address,
    chat: chatOf(address),
    origin: request.origin,
    query: request.query,
    receivedAt,
    group: false,
    ...(human ? { facts: typedByApiCaller(turn, request.query, receivedAt) } : {}),
    ...(request.secrets === undefined ? {} : { secrets: request.secrets }),
    audience: (locale) => (human ? { style: channel.noticeStyle(locale, undefined) } : undefined),
  };
}

/** The API's caller vouches that a person typed the query, and that they were shown the last response. */
function typedByApiCaller(turn: string, query: string, receivedAt: number): HumanFacts {
  return humanFacts({
    id: turn,
    text: query,
    provenance: "typed",
    sentAt: receivedAt,
    sentAtResolution: 1,
    receivedAt,
  });
}
