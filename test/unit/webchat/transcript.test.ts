import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTranscript, type LogLine, type Message } from "./page.js";

const person = (logId: string, id: string): LogLine => ({ logId, kind: "person", id, text: id, at: 1 });
const queued = (logId: string, id: string): LogLine => ({ logId, kind: "queued", id, at: 1 });
const agent = (logId: string, id: string): LogLine => ({ logId, kind: "agent", id, text: id, at: 1 });
const unsent = (id: string) => ({ id, text: id, typedAt: 1, seen: "0" });

function open() {
  const shown = new Map<string, Message>();
  const transcript = createTranscript(
    (message) => void shown.set(message.id, message),
    ({ id }) => void shown.delete(id),
  );
  const states = () => transcript.all().map(({ id, state }) => `${id} ${state}`);
  return { transcript, shown, states };
}

describe("the transcript", () => {
  it("moves a typed message to its place in the log, once, and ticks it as it goes on", () => {
    const { transcript, states } = open();
    transcript.add(unsent("a"), "waiting");
    transcript.add(unsent("b"), "waiting");
    transcript.become("a", "sending");
    expect(transcript.apply(agent("2", "x"))).toBe(true);
    expect(states()).toEqual(["x shown", "a sending", "b waiting"]);
    expect(transcript.apply(person("3", "a"))).toBe(false);
    transcript.apply(queued("4", "a"));
    expect(states()).toEqual(["x shown", "a sent", "b waiting"]);
    transcript.taken("a");
    transcript.become("a", "failed", "offline");
    expect(states()).toEqual(["x shown", "a taken", "b waiting"]);
  });

  it("does not call received what the log alone has, whatever was answered since", () => {
    const { transcript, states } = open();
    for (const line of [person("1", "a"), queued("2", "a"), person("3", "b"), agent("4", "x")]) transcript.apply(line);
    expect(states()).toEqual(["a taken", "b sending", "x shown"]);
    transcript.apply(queued("5", "b"));
    expect(states()).toEqual(["a taken", "b sent", "x shown"]);
  });

  it("keeps what is unsent when the log is read anew", () => {
    const { transcript, shown, states } = open();
    transcript.apply(person("1", "a"));
    transcript.add(unsent("b"), "waiting");
    transcript.clear();
    expect(states()).toEqual(["b waiting"]);
    expect([...shown.keys()]).toEqual(["b"]);
  });

  it("comes to the same whatever the order and however often its lines come", () => {
    const history = [
      person("1", "a"),
      queued("2", "a"),
      agent("3", "x"),
      person("4", "b"),
      agent("5", "y"),
      queued("6", "b"),
      person("7", "c"),
    ];
    const places = (lines: readonly LogLine[]) => {
      const { transcript, shown } = open();
      for (const line of lines) transcript.apply(line);
      expect(shown.size).toBe(transcript.all().length);
      return transcript.all().map(({ id, logId }) => [id, logId]);
    };
    fc.assert(
      fc.property(fc.shuffledSubarray([...history, ...history], { minLength: 14 }), (lines) => {
        expect(places(lines)).toEqual(places(history));
      }),
    );
  });

  it("tells each message who stands beside it", () => {
    const neighbours = new Map<string, readonly (string | undefined)[]>();
    const transcript = createTranscript(
      ({ id }, { previous, next }) => void neighbours.set(id, [previous?.id, next?.id]),
      () => {},
    );
    transcript.apply(agent("1", "x"));
    transcript.apply(agent("3", "z"));
    transcript.apply(agent("2", "y"));
    expect(neighbours.get("y")).toEqual(["x", "z"]);
    transcript.remove("y");
    expect(neighbours.get("z")).toEqual(["x", undefined]);
  });
});
