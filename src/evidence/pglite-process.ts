/**
 * The program of the process that holds PGlite: its memory and its long calculations are not the gateway's. It answers
 * one statement at a time, and ends when its parent ends.
 *
 * argv[2]: the database's folder. Where there is none it makes one, says `made`, and ends: making takes several times the
 * memory that using does. The parent hands over a lock on the folder, which lives as long as either of the two.
 */
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { setPriority } from "node:os";
import { types } from "@electric-sql/pglite";
import { openPglite, syncFolder } from "./pglite.js";
import type { FromPglite, ToPglite } from "./pglite-messages.js";

const folder = process.argv[2] ?? "";
const tell = (message: FromPglite, then?: () => void): void => {
  process.send?.(message, undefined, {}, () => then?.());
};
process.on("disconnect", () => process.exit(0));
// It may have ended before this line.
if (!process.connected) process.exit(0);
/** Nothing is done with them: having them is the lock. */
const held: unknown[] = [];
process.on("message", (message: ToPglite, handle: unknown) => {
  if (message.kind === "hold") held.push(handle);
});

const lowPriority = 10;

async function make(): Promise<void> {
  setPriority(lowPriority);
  const making = `${folder}.making`;
  await rm(making, { recursive: true, force: true });
  await (await openPglite(making)).close();
  syncFolder(making);
  await rename(making, folder);
  tell({ kind: "made" }, () => process.exit(0));
}

async function serve(): Promise<void> {
  const pglite = await openPglite(folder);
  const parsers = { [types.INT8]: Number };
  process.on("message", async (message: ToPglite) => {
    switch (message.kind) {
      case "hold":
        return;
      case "close":
        await pglite.close();
        process.exit(0);
        return;
      case "query": {
        const { id, sql, parameters } = message;
        try {
          const { rows, affectedRows } = await pglite.query<Record<string, unknown>>(sql, [...parameters], { parsers });
          tell({ kind: "result", id, rows, ...(affectedRows === undefined ? {} : { affected: affectedRows }) });
        } catch (error) {
          const code = codeOf(error);
          // Not a word of the database's: it is broken, and the next process makes it whole from its log.
          tell({ kind: "failed", id, code }, () => isSqlState(code) || process.exit(1));
        }
      }
    }
  });
  tell({ kind: "ready" });
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown";
}

(existsSync(folder) ? serve() : make()).catch((error: unknown) => {
  tell({ kind: "broken", code: codeOf(error) }, () => process.exit(1));
});
