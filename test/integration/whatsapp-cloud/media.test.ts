import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Attachment } from "../../../src/channels/index.js";
import { DaleError } from "../../../src/errors/index.js";
import type { Fault } from "../../fakes/whatsapp-graph/index.js";
import { type CloudProcess, type CloudRig, createCloudRig, impatientTiming } from "../../fixtures/whatsapp-cloud.js";

describe("WhatsApp Cloud API: the bytes of an attachment", () => {
  let rig: CloudRig;
  let one: CloudProcess;
  const bytes = new Uint8Array([0xff, 0xd8, 0x00, 0x0a, 0x0d]);
  beforeEach(async () => {
    rig = await createCloudRig();
    one = rig.process({ timing: impatientTiming });
  });
  afterEach(() => rig.close());

  const photo = (): Attachment => ({ kind: "image", ref: rig.number.media(bytes) });
  const failure = async (attachment: Attachment, maxBytes = 100): Promise<DaleError> => {
    const error: unknown = await one.adapter.fetchAttachment(attachment, maxBytes).catch((thrown: unknown) => thrown);
    if (!(error instanceof DaleError)) throw new Error(`no DaleError: ${String(error)}`);
    expect(error.message).not.toContain(rig.number.token);
    return error;
  };
  const kinds = () => rig.number.calls.map(({ kind }) => kind);

  it("are fetched from where Meta says they are, with the token on both calls", async () => {
    expect(await one.adapter.fetchAttachment(photo(), 5)).toEqual(bytes);
    expect(kinds()).toEqual(["media", "file"]);
  });

  it("are fetched with a new URL when the first has run out", async () => {
    rig.number.faults.add("file", { kind: "garbage", status: 404, body: "URL signature expired", taken: false });
    expect(await one.adapter.fetchAttachment(photo(), 100)).toEqual(bytes);
    expect(kinds()).toEqual(["media", "file", "media", "file"]);
  });

  it("are no more than is allowed, whatever Meta says of their size", async () => {
    expect(await failure(photo(), 4)).toMatchObject({ code: "attachment_unavailable" });
    expect(kinds()).toEqual(["media"]);
    expect(await failure({ ...photo(), size: 1_000 })).toMatchObject({ code: "attachment_unavailable" });
    expect(kinds()).toEqual(["media"]);
  });

  it.each([
    ["of something without a file", { kind: "location" }],
    ["that are gone", { kind: "image", ref: "1234567" }],
    ["under a name that is none", { kind: "image", ref: "../106540000000001/messages" }],
  ] as const)("cannot be had %s", async (_, attachment) => {
    expect(await failure(attachment)).toMatchObject({
      code: expect.stringMatching(/attachment_unavailable|channel_failed/),
    });
  });

  const troubles: readonly (readonly [string, "media" | "file", Fault])[] = [
    ["fails", "media", { kind: "error", status: 500, code: 131000 }],
    ["fails at the file", "file", { kind: "garbage", status: 503, body: "", taken: false }],
    ["does not answer", "file", { kind: "hang", taken: false }],
    ["refuses the token", "media", { kind: "error", status: 401, code: 190 }],
    ["asks to be called less", "media", { kind: "error", status: 429, code: 4, retryAfter: 3 }],
  ];
  it.each(troubles)("may be had later when Meta %s", async (_, kind, fault) => {
    rig.number.faults.add(kind, fault);
    const error = await failure(photo());
    expect(error).toMatchObject({ code: "channel_failed", retryable: true });
    if (fault.kind === "error" && fault.retryAfter) expect(error.retryAfterMs).toBe(3_000);
  });
});
