import { type Address, splitText } from "../channels/index.js";
import { appendNotice, neutralise, type Proposal } from "../gate/index.js";
import { type OutboundPart, partId } from "../outbound/index.js";

export interface Answer {
  readonly turn: string;
  readonly session: string;
  readonly address: Address;
  readonly group: boolean;
  readonly replyTo?: string;
  /** The model's text, or the runtime's own. Look-alike notices in it are neutralised here. */
  readonly text: string;
  /** What waits for the person's yes: its notice ends the answer. */
  readonly proposal?: Proposal;
  /** Longest text of one message, UTF-16 code units. */
  readonly maxLength: number;
  readonly at: number;
}

/** The whole answer as the person reads it. */
export function answerText(text: string, proposal: Proposal | undefined): string {
  const said = neutralise(text).trim();
  return proposal ? appendNotice(said, proposal.notice) : said;
}

/**
 * Cuts an answer into the messages that carry it. The notice is the last thing in the last one, whole; the gate has
 * refused proposals whose notice does not fit in one.
 */
export function partsOf(answer: Answer): readonly OutboundPart[] {
  const { proposal } = answer;
  const whole = answerText(answer.text, proposal);
  const said = proposal ? whole.slice(0, whole.length - proposal.notice.length) : whole;
  const { parts, wholeFrom } = splitText(said, {
    limit: answer.maxLength,
    ...(proposal ? { whole: proposal.notice } : {}),
  });
  return parts.map((text, i) => ({
    version: 1,
    id: partId(answer.turn, i + 1),
    session: answer.session,
    address: answer.address,
    group: answer.group,
    turn: answer.turn,
    index: i + 1,
    of: parts.length,
    text,
    ...(answer.replyTo === undefined ? {} : { replyTo: answer.replyTo }),
    ...(proposal && wholeFrom !== undefined && i === parts.length - 1
      ? { notice: { proposal: proposal.id, expiresAt: proposal.expiresAt, from: wholeFrom } }
      : {}),
    createdAt: answer.at,
  }));
}
