import type { WASocket } from "@whiskeysockets/baileys";
import { DaleError } from "../../src/errors/index.js";
import { pause } from "./pause.js";

/**
 * What people ask for while an account is not linked: to begin (again), and for a code to type on the phone. The code
 * of one connection is of no use on the next.
 */
export interface Pairing {
  /** Somebody asks for the account to be paired. */
  ask(): void;
  /** Whether somebody has asked, and nobody has taken it up. */
  readonly asked: boolean;
  /** Resolves at once when somebody has asked, else when somebody does or the signal aborts. */
  untilAsked(signal: AbortSignal): Promise<void>;
  takeUp(): void;
  /** The connection can give out codes now: WhatsApp has said how one is to be shown. */
  ready(socket: WASocket): void;
  /** The connection is over. */
  over(): void;
  /**
   * A code for that phone, from this connection or the next one that can give one out.
   * @throws DaleError `pairing_failed`
   */
  code(phone: string, withinMs: number): Promise<string>;
}

export function createPairing(): Pairing {
  let asked = false;
  let socket: WASocket | undefined;
  let wake = new AbortController();
  const changed = () => {
    wake.abort();
    wake = new AbortController();
  };
  return {
    ask() {
      asked = true;
      changed();
    },
    get asked() {
      return asked;
    },
    async untilAsked(signal) {
      while (!asked && !signal.aborted) await pause(2 ** 31 - 1, AbortSignal.any([signal, wake.signal]));
    },
    takeUp() {
      asked = false;
    },
    ready(given) {
      socket = given;
      changed();
    },
    over() {
      socket = undefined;
    },
    async code(phone, withinMs) {
      const late = AbortSignal.timeout(withinMs);
      while (!socket && !late.aborted) await pause(withinMs, AbortSignal.any([late, wake.signal]));
      const code = await socket?.requestPairingCode(phone).catch(() => undefined);
      if (code !== undefined) return code;
      throw new DaleError("pairing_failed", "WhatsApp gave out no pairing code: try again in a minute.");
    },
  };
}
