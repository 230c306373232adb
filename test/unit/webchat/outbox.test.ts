import { describe, expect, it, vi } from "vitest";
import { createOutbox, type Reply, type Unsent } from "./page.js";

const ok: Reply<unknown> = { ok: true, body: {} };
const refused = (code: string, retryAfterMs?: number): Reply<unknown> => ({ ok: false, code, retryAfterMs });
const typed = (id: string, seen = "0"): Unsent => ({ id, text: id, typedAt: 1, seen });

/** An outbox whose server answers each post with the next of `replies`, and with `ok` after the last. */
function open(replies: Reply<unknown>[] = [], kept = new Map<string, string>()) {
  const posts: Unsent[] = [];
  const states = new Map<string, string>();
  const pauses: number[] = [];
  let strange = 0;
  const outbox = createOutbox({
    post: async (message) => {
      posts.push(message);
      return replies.shift() ?? ok;
    },
    onState: (id, state, failure) => void states.set(id, failure === undefined ? state : `${state} ${failure}`),
    onStrange: () => void strange++,
    storage: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    },
    pause: async (ms) => void pauses.push(ms),
  });
  return { outbox, posts, states, pauses, kept, strange: () => strange };
}

const idsOf = (posts: readonly Unsent[]) => posts.map(({ id }) => id);

describe("the outbox", () => {
  it("sends one after the other, each once", async () => {
    const { outbox, posts, states, kept } = open();
    for (const id of ["a", "b", "c"]) outbox.add(typed(id));
    await vi.waitFor(() => expect(states.get("c")).toBe("sent"));
    expect(idsOf(posts)).toEqual(["a", "b", "c"]);
    expect(kept.size).toBe(0);
  });

  it("lets nothing overtake a message that has to be tried again", async () => {
    const { outbox, posts, states, pauses } = open([refused("offline"), refused("store_unavailable")]);
    outbox.add(typed("a"));
    outbox.add(typed("b"));
    await vi.waitFor(() => expect(states.get("b")).toBe("sent"));
    expect(idsOf(posts)).toEqual(["a", "a", "a", "b"]);
    expect(pauses).toEqual([500, 1_000]);
  });

  it("gives up after a while, says so of all that waits, and goes on from there when the line is back", async () => {
    const { outbox, posts, states } = open(Array.from({ length: 6 }, () => refused("offline")));
    outbox.add(typed("a"));
    outbox.add(typed("b"));
    await vi.waitFor(() => expect(states.get("b")).toBe("failed offline"));
    expect(states.get("a")).toBe("failed offline");
    expect(posts).toHaveLength(6);
    outbox.resume();
    await vi.waitFor(() => expect(states.get("b")).toBe("sent"));
    expect(idsOf(posts.slice(6))).toEqual(["a", "b"]);
  });

  it("never claims that an old message was typed after what came since", async () => {
    const { outbox, posts, states } = open(Array.from({ length: 6 }, () => refused("offline")));
    const message = typed("dale", "7");
    outbox.add(message);
    await vi.waitFor(() => expect(states.get("dale")).toBe("failed offline"));
    outbox.retry(message);
    await vi.waitFor(() => expect(states.get("dale")).toBe("sent"));
    for (const post of posts) expect(post).toEqual({ id: "dale", text: "dale", typedAt: 1, seen: "7" });
  });

  it("puts aside what is refused for good, and sends the next", async () => {
    const { outbox, states, kept } = open([refused("text_invalid")]);
    outbox.add(typed("a"));
    outbox.add(typed("b"));
    await vi.waitFor(() => expect(states.get("b")).toBe("sent"));
    expect(states.get("a")).toBe("failed text_invalid");
    expect(kept.get("dale-unsent")).toContain('"a"');
    outbox.discard("a");
    expect(kept.size).toBe(0);
  });

  it("waits as long as the server asks, and counts that for no failure", async () => {
    const { outbox, states, pauses } = open(Array.from({ length: 9 }, () => refused("too_many", 3_000)));
    outbox.add(typed("a"));
    await vi.waitFor(() => expect(states.get("a")).toBe("sent"));
    expect(pauses).toEqual(Array.from({ length: 9 }, () => 3_000));
  });

  it("sends nothing into a chat that is another", async () => {
    const { outbox, posts, strange } = open([refused("other_chat")]);
    outbox.add(typed("a"));
    outbox.add(typed("b"));
    await vi.waitFor(() => expect(strange()).toBe(1));
    expect(idsOf(posts)).toEqual(["a"]);
    expect(outbox.find("b")).toBeDefined();
  });

  it("keeps what is unsent over a reload, and leaves it to the person", async () => {
    const first = open(Array.from({ length: 6 }, () => refused("offline")));
    first.outbox.add(typed("a", "7"));
    await vi.waitFor(() => expect(first.states.get("a")).toBe("failed offline"));
    const second = open([], first.kept);
    expect(second.outbox.restore()).toEqual([typed("a", "7")]);
    second.outbox.resume();
    expect(second.posts).toEqual([]);
    second.outbox.retry(typed("a", "7"));
    await vi.waitFor(() => expect(second.states.get("a")).toBe("sent"));
    expect(open([], second.kept).outbox.restore()).toEqual([]);
  });

  it.each(["{", '"x"', '[{"id":1}]', "[null]"])("is not stopped by what somebody else kept there: %s", (value) => {
    expect(open([], new Map([["dale-unsent", value]])).outbox.restore()).toEqual([]);
  });

  it("does not send again what turned out to have arrived while its answer was on the way", async () => {
    let answer: (reply: Reply<unknown>) => void = () => {};
    const posts: string[] = [];
    const outbox = createOutbox({
      post: ({ id }) => {
        posts.push(id);
        return id === "a" ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(ok);
      },
      onState: () => {},
      onStrange: () => {},
      storage: undefined,
      pause: async () => {},
    });
    outbox.add(typed("a"));
    outbox.add(typed("b"));
    outbox.discard("a");
    answer(refused("offline"));
    await vi.waitFor(() => expect(posts).toEqual(["a", "b"]));
  });
});
