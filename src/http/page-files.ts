import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { secureHeaders } from "hono/secure-headers";

/** Pages load their own scripts, styles and pictures, and speak to this server only. */
export const pageHeaders = secureHeaders({
  // With none, a browser sends `Origin: null` with our own forms.
  referrerPolicy: "same-origin",
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
});

export function pageFile(file: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`pages/${file}`, import.meta.url)), "utf8");
}
