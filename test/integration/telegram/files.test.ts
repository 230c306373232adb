import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRetryable } from "../../../src/errors/index.js";
import { faults } from "../../fakes/telegram-bot-api/index.js";
import { impatientTiming } from "../../fixtures/telegram.js";
import { createTelegramRig, type TelegramRig } from "../../fixtures/telegram-rig.js";

describe("files from Telegram", () => {
  let rig: TelegramRig;
  beforeEach(async () => {
    rig = await createTelegramRig();
  });
  afterEach(() => rig.close());

  const bytes = new TextEncoder().encode("a receipt");
  const fetchFile = (ref: string, maxBytes = 1_000, size?: number) =>
    rig
      .process({ timing: impatientTiming })
      .adapter.fetchAttachment({ kind: "document", ref, ...(size === undefined ? {} : { size }) }, maxBytes);
  const refused = async (work: Promise<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof Error)) throw new Error("it was fetched");
    expect(String(error.stack) + JSON.stringify(error)).not.toContain(rig.bot.token);
    return { code: (error as { code?: unknown }).code, retryable: isRetryable(error) };
  };

  it("come as they are", async () => {
    expect(await fetchFile(rig.bot.file(bytes), bytes.byteLength)).toEqual(bytes);
  });

  it("are not fetched when they are larger than allowed, by Telegram's word or in truth", async () => {
    const gone = { code: "attachment_unavailable", retryable: false };
    const ref = rig.bot.file(bytes);
    expect(await refused(fetchFile(ref, 8, 9))).toEqual(gone);
    expect(rig.bot.calls).toEqual([]);
    expect(await refused(fetchFile(ref, 8))).toEqual(gone);
    const path = `documents/${ref}`;
    const lie = JSON.stringify({ ok: true, result: { file_id: ref, file_size: 1, file_path: path } });
    rig.bot.faults.add("getFile", { kind: "garbage", status: 200, body: lie, taken: false });
    expect(await refused(fetchFile(ref, 8))).toEqual(gone);
  });

  it("are unavailable when they are gone, too big for bots, or at no path of Telegram's", async () => {
    const gone = { code: "attachment_unavailable", retryable: false };
    expect(await refused(fetchFile("no such file"))).toEqual(gone);
    rig.bot.faults.add("getFile", { kind: "error", code: 400, description: "Bad Request: file is too big" });
    expect(await refused(fetchFile(rig.bot.file(bytes)))).toEqual(gone);
    rig.bot.faults.add("file", { kind: "error", code: 404, description: "Not Found" });
    expect(await refused(fetchFile(rig.bot.file(bytes)))).toEqual(gone);
    for (const path of ["/var/lib/telegram/file", "../../bot1:x/getMe", "a\\b"]) {
      const body = JSON.stringify({ ok: true, result: { file_id: "F", file_path: path } });
      rig.bot.faults.add("getFile", { kind: "garbage", status: 200, body, taken: false });
      expect(await refused(fetchFile("F"))).toEqual(gone);
    }
  });

  it("may be asked for again when Telegram fails", async () => {
    const again = { code: "channel_failed", retryable: true };
    const ref = rig.bot.file(bytes);
    rig.bot.faults.add("getFile", faults.internal);
    expect(await refused(fetchFile(ref))).toEqual(again);
    rig.bot.faults.add("file", { kind: "reset", taken: false });
    expect(await refused(fetchFile(ref))).toEqual(again);
    rig.bot.faults.add("file", { kind: "hang", taken: false });
    expect(await refused(fetchFile(ref))).toEqual(again);
    expect(await fetchFile(ref)).toEqual(bytes);
  });
});
