import { createHash } from "node:crypto";
import type { ChannelStore } from "../../src/channels/index.js";
import type { Deadline } from "./deadline.js";

const cookieName = "dale_chat";
const day = 86_400_000;
/** A chat that was opened and never written in. */
const unusedForMs = day;
/** A chat since its last message. Browsers keep a cookie for 400 days at most. */
const usedForMs = 180 * day;
const cookieSeconds = (2 * usedForMs) / 1000;
/** How long this process believes what the store last said of a chat. */
const believedForMs = 10 * 60_000;
const believedAtMost = 20_000;

/** What stands under a chat's key: nothing but that it is there. */
const kept = "1";

/** A visitor's secret: 128 random bits, base64url. Whoever has it is that person; only the cookie ever holds it. */
const secretPattern = /^[A-Za-z0-9_-]{22}$/;
const chatPattern = /^[A-Za-z0-9_-]{22}$/;

/** The chat's public id, which is its sender's too. Nobody gets from it to the secret. */
export function chatOf(account: string, secret: string): string {
  return createHash("sha256").update(`dale webchat\0${account}\0${secret}`).digest("base64url").slice(0, 22);
}

/** Whether it has the form of a chat's id: logs of other names are never written. */
export function isChatId(chat: string): boolean {
  return chatPattern.test(chat);
}

/** The secret that the request's cookie carries. */
export function secretOf(request: Request): string | undefined {
  for (const pair of request.headers.get("cookie")?.split(";") ?? []) {
    const [name, value] = pair.trim().split("=");
    if (name === cookieName && value !== undefined && secretPattern.test(value)) return value;
  }
  return undefined;
}

/**
 * Without a Path the browser takes the folder that it asked, which is the account's mount point, also behind a proxy
 * that serves it under another address. So it may only be set by an answer from right below that point.
 */
export function cookieFor(secret: string, request: Request): string {
  const secure = request.url.startsWith("https:") || request.headers.get("x-forwarded-proto") === "https";
  return `${cookieName}=${secret}; HttpOnly; SameSite=Strict; Max-Age=${cookieSeconds}${secure ? "; Secure" : ""}`;
}

/** Which chats there are. A secret that was never handed out opens none, so chats cannot be made up in numbers. */
export interface Chats {
  isKnown(chat: string, deadline: Deadline): Promise<boolean>;
  open(chat: string, deadline: Deadline): Promise<void>;
  /** Somebody wrote in it: it is kept for long. */
  used(chat: string, deadline: Deadline): Promise<void>;
}

export function createChats(store: ChannelStore, now: () => number): Chats {
  const believed = new Map<string, { readonly until: number; readonly used: boolean }>();
  const key = (chat: string) => `chat:${chat}`;
  const believe = (chat: string, used: boolean) => {
    believed.delete(chat);
    believed.set(chat, { until: now() + believedForMs, used });
    if (believed.size > believedAtMost) for (const oldest of [...believed.keys()].slice(0, 1)) believed.delete(oldest);
  };
  const beliefIn = (chat: string) => {
    const belief = believed.get(chat);
    return belief && belief.until > now() ? belief : undefined;
  };

  return {
    async isKnown(chat, deadline) {
      if (beliefIn(chat)) return true;
      if ((await deadline.within(store.get(key(chat)))) === undefined) return false;
      believe(chat, false);
      return true;
    },
    async open(chat, deadline) {
      await deadline.within(store.set(key(chat), kept, unusedForMs));
      believe(chat, false);
    },
    async used(chat, deadline) {
      if (beliefIn(chat)?.used) return;
      await deadline.within(store.set(key(chat), kept, usedForMs));
      believe(chat, true);
    },
  };
}
