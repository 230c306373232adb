import { z } from "zod";
import type { Attachment } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import type { BotApi, Fault } from "./bot-api.js";

/** A Bot API server in local mode names paths on its own disk: those are not for us. */
const file = z.object({
  file_path: z.string().regex(/^(?!\/)(?!.*\.\.)[^\\]+$/),
  file_size: z.number().optional(),
});

/**
 * The bytes of an attachment. Telegram gives bots no file above 20 MB.
 * @throws DaleError `attachment_unavailable` when it is too large, gone or has no bytes; `channel_failed` when Telegram
 * cannot be reached
 */
export async function fetchFile(
  api: BotApi,
  attachment: Attachment,
  maxBytes: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { ref } = attachment;
  if (ref === undefined) throw unavailable("That kind of message has no file.");
  if ((attachment.size ?? 0) > maxBytes) throw unavailable("The file is larger than is allowed here.");
  const found = await api.attempt((raw, inner) => raw.getFile({ file_id: ref }, inner), timeoutMs, signal);
  if (!found.ok) throw errorOf(found.fault);
  const named = file.safeParse(found.result);
  if (!named.success) throw unavailable("Telegram names no path for that file.");
  if ((named.data.file_size ?? 0) > maxBytes) throw unavailable("The file is larger than is allowed here.");
  const bytes = await api.download(named.data.file_path, maxBytes, timeoutMs, signal);
  if (!bytes.ok) throw errorOf(bytes.fault);
  return bytes.result;
}

function errorOf(fault: Fault): DaleError {
  if (fault.kind === "refused" && fault.code === 400) {
    return unavailable(
      /too big/i.test(fault.description) ? "Telegram gives bots no file above 20 MB." : "The file is gone.",
    );
  }
  if (fault.code === "too_large") return unavailable("The file is larger than is allowed here.");
  if (fault.code === "http_404") return unavailable("The file is gone.");
  const retryAfterMs = fault.kind === "refused" ? fault.retryAfterMs : undefined;
  return new DaleError("channel_failed", `Telegram did not give the file (${fault.code}).`, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const unavailable = (reason: string) => new DaleError("attachment_unavailable", reason);
