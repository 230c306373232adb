import type { ModelImage } from "../agents/models/index.js";
import type { Attachment, ChannelLogger, InboundMessage } from "../channels/index.js";
import { DaleError } from "../errors/index.js";

/** What a turn has seen and heard of a message before the agent is asked. Nothing of it is stored but the query. */
export interface Perceived {
  /** The text of the message, what was said in it, and in words what came with it or instead of it. */
  readonly query: string;
  readonly images: readonly ModelImage[];
}

export interface PerceptionOptions {
  /** Bytes of an attachment, at most `maxBytes`. Rejects where they cannot be had, here or at all. */
  readonly fetch: (message: InboundMessage, attachment: Attachment, signal: AbortSignal) => Promise<Uint8Array>;
  /** What is said in a recording. Absent: recordings stay what they are. */
  readonly transcribe?: (recording: Recording, signal: AbortSignal) => Promise<string>;
  /** Most bytes of one attachment that are fetched; 0: none ever are. */
  readonly maxBytes: number;
  readonly logger: ChannelLogger;
}

export interface Recording {
  readonly bytes: Uint8Array;
  readonly mime?: string;
  readonly filename?: string;
}

/** Looks at pictures and listens to voice notes, for the one turn that asks. */
export interface Perception {
  /**
   * Never rejects, but when the signal aborts: what cannot be loaded or understood is said to the agent in words.
   * @param images whether the agent's model can look at pictures
   */
  perceive(message: InboundMessage, images: boolean, signal: AbortSignal): Promise<Perceived>;
}

/** What models take. */
const pictures = /^image\/(?:jpeg|png|webp|gif)$/;
/** Most pictures of one message. */
const mostImages = 10;

export function createPerception(options: PerceptionOptions): Perception {
  const { fetch, transcribe, maxBytes, logger } = options;

  async function attempt<Result>(what: string, work: () => Promise<Result>, signal: AbortSignal) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ what, code: error instanceof DaleError ? error.code : "unexpected" }, "not perceived");
      return undefined;
    }
  }

  return {
    async perceive(message, images, signal) {
      const said: string[] = [];
      const seen: ModelImage[] = [];
      const notes = new Map<Attachment, string>();
      const within = (attachment: Attachment) => maxBytes > 0 && (attachment.size ?? 0) <= maxBytes;
      for (const attachment of message.attachments) {
        const mime = imageType(attachment);
        if (images && mime !== undefined && seen.length < mostImages) {
          const work = async () => (within(attachment) ? await fetch(message, attachment, signal) : undefined);
          const data = await attempt("image", work, signal);
          if (data) seen.push({ mime, data });
          else notes.set(attachment, "it could not be loaded");
        } else if (transcribe && attachment.kind === "voice") {
          const work = async () => {
            if (!within(attachment)) return undefined;
            const bytes = await fetch(message, attachment, signal);
            return await transcribe({ bytes, ...typeOf(attachment) }, signal);
          };
          const words = await attempt("voice", work, signal);
          if (words === undefined) notes.set(attachment, "it could not be transcribed");
          else {
            said.push(words);
            notes.set(attachment, "transcribed above");
          }
        }
      }
      return { query: queryOf(message, said, notes), images: seen };
    },
  };
}

/** What the agent is asked: the text as it was written, and in words what came with it or instead of it. */
export function queryOf(
  message: InboundMessage,
  said: readonly string[] = [],
  notes: ReadonlyMap<Attachment, string> = new Map(),
): string {
  const things = message.attachments.map((each) => {
    const size = each.size === undefined ? undefined : `${each.size} bytes`;
    const facts = [each.kind, each.mime, each.filename, size, notes.get(each)];
    return `[${facts.filter((fact) => fact !== undefined).join(", ")}]`;
  });
  return [message.text, ...said, ...things].filter((piece) => piece !== "").join("\n");
}

/** Pictures are sent as files, too, so that they keep their size. */
function imageType({ kind, mime }: Attachment): string | undefined {
  const type = mime?.split(";", 1)[0]?.trim().toLowerCase();
  if (kind === "image") return type === undefined ? "image/jpeg" : pictures.test(type) ? type : undefined;
  return kind === "document" && type !== undefined && pictures.test(type) ? type : undefined;
}

function typeOf({ mime, filename }: Attachment): Omit<Recording, "bytes"> {
  return { ...(mime === undefined ? {} : { mime }), ...(filename === undefined ? {} : { filename }) };
}
