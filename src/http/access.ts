import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

const cookieName = "dale_console";
const cookieSeconds = 12 * 3600;
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/**
 * Who may see what operators see. With a token: `Authorization: Bearer`, or the console's cookie. Without one (loopback
 * only, the configuration refuses anything else): everybody on this machine, but no page of another site in its browser.
 */
export interface Access {
  /** Lets through who may; answers 401 or 403 to others. */
  readonly required: MiddlewareHandler;
  /** As `required`, but sends browsers without a cookie to the sign-in page. */
  readonly page: MiddlewareHandler;
  /** Refuses requests that a page of another site made. */
  readonly sameSite: MiddlewareHandler;
  readonly open: boolean;
  signIn(c: Context, token: string, now: number): boolean;
  signOut(c: Context): void;
}

export function createAccess(token: string | undefined, now: () => number): Access {
  const key = createHash("sha256")
    .update(`dale console cookie\n${token ?? ""}`)
    .digest();
  const sign = (expires: number) => createHmac("sha256", key).update(String(expires)).digest("base64url");

  function hasCookie(c: Context): boolean {
    const [expires, signature] = (getCookie(c, cookieName) ?? "").split(".");
    if (!expires || !signature || !(Number(expires) > now())) return false;
    return same(signature, sign(Number(expires)));
  }

  function allowed(c: Context): boolean {
    if (token === undefined) return true;
    const bearer = /^Bearer (.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
    return (bearer !== undefined && same(bearer, token)) || hasCookie(c);
  }

  function foreign(c: Context): boolean {
    const host = c.req.header("host") ?? "";
    if (token === undefined && !loopback.test(host)) return true;
    const origin = c.req.header("origin");
    return origin !== undefined && origin !== "null" ? new URL(origin).host !== host : origin === "null";
  }

  const sameSite: MiddlewareHandler = async (c, next) => {
    if (isForeign(c))
      return c.json({ error: { code: "forbidden", message: "Requests of other sites are refused." } }, 403);
    return next();
  };
  const isForeign = (c: Context) => {
    try {
      return foreign(c);
    } catch {
      return true;
    }
  };

  return {
    open: token === undefined,
    sameSite,
    required: async (c, next) => {
      if (allowed(c)) return next();
      c.header("WWW-Authenticate", "Bearer");
      return c.json({ error: { code: "unauthorized", message: "Send `Authorization: Bearer <token>`." } }, 401);
    },
    page: async (c, next) => (allowed(c) ? next() : c.redirect("/sign-in")),
    signIn(c, given, at) {
      if (token === undefined || !same(given, token)) return false;
      const expires = at + cookieSeconds * 1000;
      const secure = new URL(c.req.url).protocol === "https:" || c.req.header("x-forwarded-proto") === "https";
      setCookie(c, cookieName, `${expires}.${sign(expires)}`, {
        httpOnly: true,
        sameSite: "Strict",
        path: "/",
        maxAge: cookieSeconds,
        secure,
      });
      return true;
    },
    signOut: (c) => {
      deleteCookie(c, cookieName, { path: "/" });
    },
  };
}

/** In constant time, whatever the lengths. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
