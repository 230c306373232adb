import { describe, expect, it } from "vitest";
import { createKeyspace, shardPrefix } from "../../../src/store/index.js";

describe("the names of a shard's keys", () => {
  it("all begin with its hash tag, whatever the session's id holds", () => {
    const keys = createKeyspace(shardPrefix(3)).queue("inbound");
    for (const name of [keys.base, keys.line("a:{b}:c"), keys.mark("t-1"), keys.due, keys.fence]) {
      expect(name.startsWith("{dale:3}:")).toBe(true);
    }
  });

  it("are never the same for two queues, or for a queue of ours and one of BullMQ's", () => {
    const [inbound, outbound] = ["inbound", "outbound"].map((name) => createKeyspace("{dale:0}").queue(name));
    expect(inbound?.line("a")).not.toBe(outbound?.line("a"));
    expect(inbound?.mark("a")).not.toBe(outbound?.mark("a"));
    expect(inbound?.line("a").startsWith(inbound.base)).toBe(false);
    expect(inbound?.fence).toBe(outbound?.fence);
  });

  it.each(["dale", "{dale", "a{dale}", "{dale}b", "{}", "{a}{b}"])("cannot begin with %j", (prefix) => {
    expect(() => createKeyspace(prefix)).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});
