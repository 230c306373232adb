import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { withSafeHeaders } from "./answer.js";

const folder = new URL("./page/", import.meta.url);
const types = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** The page's own files, read once. */
export interface PageFiles {
  /** @returns undefined when the page has no such file */
  answer(request: Request, path: string): Promise<Response | undefined>;
}

export function createPageFiles(): PageFiles {
  const files = new Map<string, Promise<{ readonly bytes: Buffer<ArrayBuffer>; readonly tag: string }>>();
  const load = async (name: string) => {
    const bytes = await readFile(new URL(name, folder));
    return { bytes, tag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` };
  };

  return {
    async answer(request, path) {
      const name = path === "/" ? "index.html" : path.slice(1);
      const extension = /^[a-z][a-z-]*\.(html|css|js|svg)$/.exec(name)?.[1];
      if (extension === undefined || !(extension in types)) return undefined;
      const loading = files.get(name) ?? load(name);
      files.set(name, loading);
      const file = await loading.catch(() => undefined);
      if (!file) {
        files.delete(name);
        return undefined;
      }
      const headers = withSafeHeaders({
        "content-type": types[extension as keyof typeof types],
        "cache-control": "no-cache",
        etag: file.tag,
        "content-security-policy": policy,
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
      });
      if (request.headers.get("if-none-match") === file.tag) return new Response(null, { status: 304, headers });
      return new Response(request.method === "HEAD" ? null : file.bytes, { headers });
    },
  };
}
