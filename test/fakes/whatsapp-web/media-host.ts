import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { getMediaKeys, type MediaType, type proto } from "@whiskeysockets/baileys";

/** What a message says of a file, beside its kind. */
export type UploadedFile = Required<
  Pick<proto.Message.IImageMessage, "directPath" | "mediaKey" | "fileSha256" | "fileEncSha256" | "fileLength">
>;

/** Where phones put encrypted files, and others fetch them. */
export interface MediaHost {
  upload(bytes: Uint8Array, kind: MediaType): Promise<UploadedFile>;
  /** Paths that were asked for. */
  readonly fetched: readonly string[];
  /** Files are gone from now on. */
  forget(): void;
  /** Files are damaged from now on. */
  damage(): void;
  serve(request: IncomingMessage, response: ServerResponse): void;
}

export function createMediaHost(): MediaHost {
  const files = new Map<string, Buffer>();
  const fetched: string[] = [];
  return {
    fetched,
    async upload(bytes, kind) {
      const mediaKey = randomBytes(32);
      const { cipherKey, iv, macKey } = await getMediaKeys(mediaKey, kind);
      if (!macKey) throw new Error("no key to authenticate with");
      const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
      const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
      const mac = createHmac("sha256", macKey).update(iv).update(sealed).digest().subarray(0, 10);
      const whole = Buffer.concat([sealed, mac]);
      const directPath = `/v/${randomBytes(8).toString("hex")}.enc?ccb=11-4`;
      files.set(directPath, whole);
      return {
        directPath,
        mediaKey,
        fileSha256: createHash("sha256").update(bytes).digest(),
        fileEncSha256: createHash("sha256").update(whole).digest(),
        fileLength: bytes.byteLength,
      };
    },
    forget: () => files.clear(),
    damage() {
      for (const whole of files.values()) whole[0] = (whole[0] ?? 0) ^ 1;
    },
    serve(request, response) {
      const path = request.url ?? "/";
      fetched.push(path);
      const file = files.get(path);
      if (file) response.writeHead(200, { "content-length": file.length }).end(file);
      else response.writeHead(404).end();
    },
  };
}
