import { describe, expect, it } from "vitest";
import type { Connection } from "../../../src/agents/spec/index.js";
import { openAccess, runConnection, UnusableConnection } from "../../../src/agents/tools/credential.js";

const configured: Connection = {
  name: "main",
  baseUrl: "https://erp.example/v1",
  credentials: { api_key: "key-of-the-house", login: { username: "ana", password: "pässword" } },
};
const connections = new Map([["main", configured]]);

describe("the connection of a run", () => {
  it("is the configured one, with the fields that the run brings in their place", () => {
    expect(runConnection("main", connections, {})).toBe(configured);
    expect(runConnection("main", connections, { other: { api_key: "x" } })).toBe(configured);
    expect(runConnection("main", connections, { main: { api_key: "key-of-the-run" } })).toEqual({
      ...configured,
      credentials: { ...configured.credentials, api_key: "key-of-the-run" },
    });
  });

  it("never sends the configured credentials to an address that the run brought", () => {
    const taken = runConnection("main", connections, { main: { base_url: "https://elsewhere.example" } });
    expect(taken).toEqual({ name: "main", baseUrl: "https://elsewhere.example", credentials: {} });
    expect(() => openAccess({ scheme: "bearer", credential: "api_key" }, taken)).toThrow(UnusableConnection);
  });

  it("is not found by the name of something that every object has", () => {
    expect(runConnection("constructor", connections, {}).credentials).toEqual({});
  });
});

describe("access", () => {
  it("signs by each scheme", () => {
    expect(openAccess({ scheme: "bearer", credential: "api_key" }, configured).headers).toEqual({
      authorization: "Bearer key-of-the-house",
    });
    expect(openAccess({ scheme: "header", credential: "api_key", headerName: "X-Key" }, configured).headers).toEqual({
      "x-key": "key-of-the-house",
    });
    expect(openAccess({ scheme: "query", credential: "api_key", paramName: "key" }, configured).query).toEqual([
      ["key", "key-of-the-house"],
    ]);
    const token = Buffer.from("ana:pässword").toString("base64");
    for (const connection of [
      configured,
      withCredential("ana:pässword"),
      { ...configured, credentials: { username: "ana", password: "pässword" } },
    ]) {
      expect(openAccess({ scheme: "basic", credential: "login" }, connection).headers).toEqual({
        authorization: `Basic ${token}`,
      });
    }
  });

  it.each(["", "a\r\nX-Evil: 1", "a\nb", "ключ", " padded ", "a\u0000"])(
    "refuses %j in a header, without repeating it",
    (bad) => {
      const access = () => openAccess({ scheme: "bearer", credential: "login" }, withCredential(bad));
      expect(access).toThrow(UnusableConnection);
      if (bad.trim() !== "") expect(access).not.toThrow(bad);
    },
  );

  it("redacts every form in which a server may send a secret back", () => {
    const secret = 'p"w/ö+secret=';
    const { redact } = openAccess({ scheme: "query", credential: "login", paramName: "k" }, withCredential(secret));
    const forms = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify({ secret }),
      Buffer.from(secret).toString("base64"),
      `Bearer ${secret}`,
    ];
    for (const form of forms) expect(redact(`before ${form} after`)).toMatch(/^before .*\[redacted\].* after$/);
    const basic = openAccess({ scheme: "basic", credential: "login" }, withCredential("ana:hunter2222"));
    const token = Buffer.from("ana:hunter2222").toString("base64");
    for (const form of ["hunter2222", token, "ana:hunter2222"]) expect(basic.redact(form)).toBe("[redacted]");
  });
});

function withCredential(login: string): Connection {
  return { ...configured, credentials: { login } };
}
