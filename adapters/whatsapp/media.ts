import { createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { getMediaKeys } from "@whiskeysockets/baileys";
import type { Attachment } from "../../src/channels/index.js";
import { DaleError } from "../../src/errors/index.js";
import { type FileRef, fileRef } from "./attachments.js";

const whatsappHost = "https://mmg.whatsapp.net";
/** Padding to a block and the authentication code. */
const overhead = 16 + 10;
const macBytes = 10;

/** Where files are: WhatsApp's host, or the stand-in's. */
export function mediaHostOf(socketUrl: string | undefined): string {
  return socketUrl === undefined ? whatsappHost : `http://${new URL(socketUrl).host}`;
}

/**
 * The bytes of an attachment: fetched from WhatsApp's host, at most `maxBytes` of them, authenticated, decrypted. Any
 * process can do it. (Baileys' own download does not look at the authentication code.)
 * @throws DaleError `attachment_unavailable` when it is too large, gone, damaged or has no bytes; `channel_failed` when
 * the host cannot be reached
 */
export async function fetchFile(
  host: string,
  attachment: Attachment,
  maxBytes: number,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const ref = parse(attachment.ref);
  if (!ref) throw unavailable("That kind of message has no file.");
  if ((attachment.size ?? 0) > maxBytes) throw tooLarge();
  const url = new URL(ref.path, host);
  if (url.origin !== new URL(host).origin) throw unavailable("The file is not on WhatsApp's host.");
  const timeout = AbortSignal.timeout(timeoutMs);
  const limited = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const sealed = await download(url, maxBytes + overhead, limited);
  const bytes = await open(sealed, ref);
  if (bytes.byteLength > maxBytes) throw tooLarge();
  return bytes;
}

async function download(url: URL, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  try {
    const headers = { origin: "https://web.whatsapp.com" };
    const response = await fetch(url, { headers, redirect: "error", signal });
    if (response.status === 404 || response.status === 410) throw unavailable("The file is gone.");
    if (!response.ok) throw new DaleError("channel_failed", `WhatsApp did not give the file (${response.status}).`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.byteLength;
      if (size > maxBytes) throw tooLarge();
      chunks.push(part);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof DaleError) throw error;
    throw new DaleError("channel_failed", "WhatsApp's host for files cannot be reached.", { cause: error });
  }
}

async function open(whole: Buffer, ref: FileRef): Promise<Buffer> {
  const { cipherKey, iv, macKey } = await getMediaKeys(Buffer.from(ref.key, "base64"), ref.type);
  const sealed = whole.subarray(0, -macBytes);
  const mac = createHmac("sha256", macKey ?? Buffer.alloc(0))
    .update(iv)
    .update(sealed)
    .digest()
    .subarray(0, macBytes);
  if (whole.length <= macBytes || !timingSafeEqual(mac, whole.subarray(-macBytes))) throw damaged();
  try {
    const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
    const bytes = Buffer.concat([decipher.update(sealed), decipher.final()]);
    const digest = createHash("sha256").update(bytes).digest("base64");
    if (ref.sha256 !== undefined && ref.sha256 !== digest) throw damaged();
    return bytes;
  } catch (error) {
    throw error instanceof DaleError ? error : damaged();
  }
}

function parse(text: string | undefined): FileRef | undefined {
  try {
    return fileRef.safeParse(JSON.parse(text ?? "")).data;
  } catch {
    return undefined;
  }
}

const unavailable = (reason: string) => new DaleError("attachment_unavailable", reason);
const tooLarge = () => unavailable("The file is larger than is allowed here.");
const damaged = () => unavailable("The file is damaged: its authentication code does not fit.");
