import type { ChannelAdapter, ChannelLogger, SendResult } from "../channels/index.js";
import type { SlotStore } from "../gate/index.js";
import { PostponeJob, type RunningJob } from "../queue/index.js";
import { deliveryRank } from "./delivery.js";
import type { NoticeWatch } from "./notice-watch.js";
import { partId } from "./parts.js";
import type { DeliveryStore, OutboundPart } from "./ports.js";

/** How long a part may wait for its turn under the platform's limits; 0 to go on. Counts the message as sent. */
export interface SendLimiter {
  /** @returns milliseconds to wait, 0 when the message may go out now */
  take(chat: string, group: boolean): Promise<number>;
}

export interface SenderOptions {
  readonly adapter: Pick<ChannelAdapter, "channel" | "name" | "capabilities" | "send" | "newId">;
  readonly deliveries: DeliveryStore;
  readonly slots: SlotStore;
  readonly watch: NoticeWatch;
  readonly limiter: SendLimiter;
  /** Puts a part at the end of its session's line: for a notice that has to be shown again. */
  readonly enqueue: (part: OutboundPart) => Promise<void>;
  readonly logger: ChannelLogger;
  readonly now: () => number;
  /** How long a part that the platform surely did not take is tried again, in ms since it was made. Default 24 h. */
  readonly giveUpAfterMs?: number;
}

export interface Sender {
  /** Handles one job of the account's outbound queue. */
  send(job: RunningJob<OutboundPart>): Promise<void>;
  /** A job that failed for good without a result: whatever it was, it counts as not delivered. */
  dead(part: OutboundPart, reason: string): Promise<void>;
}

const firstBackoffMs = 500;
const longestBackoffMs = 60_000;

/** Sends parts of one account in order, each at most once, and writes down what came of it before anything else. */
export function createSender(options: SenderOptions): Sender {
  const { adapter, deliveries, slots, watch, now } = options;
  const giveUpAfterMs = options.giveUpAfterMs ?? 24 * 3_600_000;

  /** What an earlier run of this job left: `done`, or how to go on. */
  async function resume(part: OutboundPart): Promise<{ done: true } | { done: false; ref?: string; attempts: number }> {
    const known = await deliveries.read(part.id);
    if (!known || known.state === "queued") return { done: false, attempts: known?.attempts ?? 0, ...ref(known?.ref) };
    if (known.state !== "sending") return { done: true };
    if (adapter.capabilities.repeatsSafely && known.ref)
      return { done: false, ref: known.ref, attempts: known.attempts };
    await unknown(part, { code: "interrupted", reason: "The process stopped while this message was being sent." });
    return { done: true };
  }

  async function unknown(part: OutboundPart, why: { code: string; reason: string; ref?: string }): Promise<void> {
    await deliveries.apply(part.id, { type: "unknown", code: why.code, reason: why.reason, at: now() });
    await noticeFailed(part, "unknown", why.code);
    await showAgainOnce(part);
  }

  async function failed(part: OutboundPart, code: string, reason: string): Promise<void> {
    await deliveries.apply(part.id, { type: "failed", code, reason, at: now() });
    await noticeFailed(part, "failed", code);
    options.logger.warn({ part: part.id, turn: part.turn, code }, "message not sent");
  }

  async function noticeFailed(part: OutboundPart, state: "failed" | "unknown", code: string): Promise<void> {
    if (!part.notice) return;
    const proposal = part.notice.proposal;
    await slots.apply(part.session, { type: "noticeFailed", proposal, part: part.id, state, code, at: now() });
  }

  /** Nobody knows whether a notice arrived: it alone goes out once more. The answer before it is not repeated. */
  async function showAgainOnce(part: OutboundPart): Promise<void> {
    if (!part.notice || part.id.endsWith(againSuffix)) return;
    const text = part.text.slice(part.notice.from);
    const turn = part.turn + againSuffix;
    await options.enqueue({
      ...part,
      id: partId(turn, 1) + againSuffix,
      turn,
      index: 1,
      of: 1,
      text,
      notice: { ...part.notice, from: 0 },
      createdAt: now(),
    });
  }

  /** The text that may still go out: without its notice when the proposal is gone, nothing when that was all. */
  async function textOf(part: OutboundPart, id: string | undefined): Promise<{ text: string; withNotice: boolean }> {
    if (!part.notice) return { text: part.text, withNotice: false };
    const { proposal, expiresAt, from } = part.notice;
    const at = now();
    if (at < expiresAt) {
      const outcome = await slots.apply(part.session, {
        type: "noticeSending",
        proposal,
        part: part.id,
        at,
        ...ref(id),
      });
      if (outcome.kind === "recorded") return { text: part.text, withNotice: true };
    }
    return { text: part.text.slice(0, from).trimEnd(), withNotice: false };
  }

  async function send(job: RunningJob<OutboundPart>): Promise<void> {
    const part = job.data;
    const state = await resume(part);
    if (state.done) return;
    if (part.index > 1) {
      const before = await deliveries.read(partId(part.turn, part.index - 1));
      if (before?.state === "failed") {
        return failed(part, "answer_incomplete", "The part of the answer before this one could not be sent.");
      }
    }
    const wait = await options.limiter.take(part.address.chat, part.group);
    if (wait > 0) throw new PostponeJob(wait);

    const id = adapter.capabilities.ownsIds ? (state.ref ?? adapter.newId?.()) : undefined;
    const { text, withNotice } = await textOf(part, id);
    if (text === "") return failed(part, "lapsed", "The proposal was gone before its notice could be sent.");
    const { before, after } = await deliveries.apply(part.id, { type: "sending", part, ...ref(id), at: now() });
    // Nothing changed: another run has it, or it is settled. Whoever wrote `sending` sends, nobody else.
    if (before === after) return;
    const result = await adapter.send(
      {
        chat: part.address.chat,
        sender: part.address.sender,
        group: part.group,
        text,
        ...(withNotice && part.notice ? { noticeFrom: part.notice.from } : {}),
        ...(part.replyTo === undefined ? {} : { replyTo: part.replyTo }),
        ...(id === undefined ? {} : { id }),
      },
      job.signal,
    );
    await record(part, withNotice, result, state.attempts + 1);
  }

  async function record(part: OutboundPart, withNotice: boolean, result: SendResult, attempts: number): Promise<void> {
    const at = now();
    switch (result.status) {
      case "accepted": {
        const stamps = {
          ...(result.sentAt === undefined ? {} : { sentAt: result.sentAt }),
          ...(result.order === undefined ? {} : { order: result.order }),
        };
        if (withNotice && part.notice) {
          const proposal = part.notice.proposal;
          await slots.apply(part.session, {
            type: "noticeSent",
            proposal,
            part: part.id,
            ref: result.ref,
            at,
            ...stamps,
          });
        }
        await deliveries.apply(part.id, { type: "accepted", ref: result.ref, at, ...stamps });
        await watch.claimParked(part.address.channel, part.address.account, result.ref);
        await watch.settled(part.id);
        return;
      }
      case "retry": {
        await deliveries.apply(part.id, { type: "retry", code: result.code, reason: result.reason, at });
        if (at - part.createdAt > giveUpAfterMs) return failed(part, result.code, result.reason);
        const backoff = Math.min(firstBackoffMs * 2 ** Math.min(attempts - 1, 10), longestBackoffMs);
        throw new PostponeJob(result.afterMs ?? backoff);
      }
      case "failed":
        return failed(part, result.code, result.reason);
      case "unknown":
        return unknown(part, result);
    }
  }

  return {
    send,
    async dead(part, reason) {
      const known = await deliveries.read(part.id);
      if (known && deliveryRank(known.state) >= deliveryRank("accepted")) return;
      if (known?.state === "failed" || known?.state === "unknown") return;
      if (known?.state === "sending") return unknown(part, { code: "interrupted", reason });
      return failed(part, "gave_up", reason);
    },
  };
}

const againSuffix = "-again";

function ref(id: string | undefined): { ref?: string } {
  return id === undefined ? {} : { ref: id };
}
