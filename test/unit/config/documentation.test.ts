import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { configShape } from "../../../src/app/config/shape.js";
import { type DocumentedKey, documentedKeys, keysOf } from "../../fixtures/documented-keys.js";
import { load } from "./files.js";

const page = await readFile(new URL("../../../docs/configuration.md", import.meta.url), "utf8");
const channels = ["telegram", "whatsapp", "whatsapp_cloud", "webchat"];
const documented = documentedKeys(page).flatMap((row) =>
  row.key.includes(".*") ? channels.map((channel) => ({ ...row, key: row.key.replace("*", channel) })) : [row],
);

const accounts: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  telegram: { name: "x", agent: "a", token: "1:t", secret_token: "s", mode: "webhook" },
  whatsapp: { name: "x", agent: "a" },
  whatsapp_cloud: {
    name: "x",
    agent: "a",
    phone_number_id: "1",
    access_token: "t",
    app_secret: "s",
    verify_token: "v",
  },
  webchat: { name: "x", agent: "a" },
};
const needed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "media.transcription": { endpoint: "http://h", model: "m" },
  "channels.whatsapp_cloud[].late_template": { name: "n", language: "l" },
  http: { token: "t" },
};
const bytes = Buffer.alloc(32).toString("base64");
const env = Object.fromEntries(
  ["TELEGRAM_BOT_TOKEN", "TELEGRAM_SECRET", "WA_TOKEN", "WA_SECRET", "WA_VERIFY", "DALE_TOKEN", "OPENAI_API_KEY"].map(
    (name) => [name, "from-the-environment"],
  ),
);
const folders = { "agents/x": "", "integrations/x": "", "connections.yaml": "", "policies.yaml": "" };

/** A configuration with the key set to the value (YAML), or with only what has to stand around the key. */
function around(key: string, value: string | undefined): string {
  const [last = "", ...above] = key.split(".").reverse();
  const parent = above.toReversed().join(".");
  let inner: Record<string, unknown> = { ...needed[parent] };
  if (value === undefined) delete inner[last];
  else inner[last] = "@value";
  for (const step of above) {
    const account = accounts[step.replace("[]", "")];
    // An account's own keys have to stand beside the key, or beside what holds the key.
    inner = { [step.replace("[]", "")]: account === undefined ? inner : [{ ...account, ...inner }] };
  }
  return JSON.stringify(inner).replace('"@value"', () => value ?? "");
}

const loadAround = async ({ key }: DocumentedKey, value: string | undefined) => {
  const { config, found } = await load(
    `${around(key, value)}\n`,
    { ...env, WA_STATE_KEY: bytes, DALE_EVIDENCE_KEY: bytes },
    folders,
  );
  const { file: _file, dataDir: _dataDir, ...rest } = config ?? { file: "", dataDir: "" };
  return {
    found,
    dataDir: config?.dataDir.split("/").at(-1),
    rest: JSON.stringify(rest).replaceAll(/\/[^"]*dale-files-\w+/g, ""),
  };
};

describe("docs/configuration.md", () => {
  it("lists every key of dale.yaml, and no other", () => {
    expect(documented.map(({ key }) => key).sort()).toEqual([...keysOf(configShape)].sort());
  });

  it.each(documented.filter(({ fallback }) => fallback !== undefined))(
    "tells the default of $key as it is",
    async (row) => {
      const [unset, set] = [await loadAround(row, undefined), await loadAround(row, row.fallback)];
      if (row.key === "channels.telegram[].mode") return expect(row.fallback).toBe("polling");
      expect(set.found).toEqual([]);
      expect(set).toEqual(unset);
    },
  );

  it.each(documented)("has an example of $key that loads", async (row) => {
    expect(row.example).toBeDefined();
    const { found } = await loadAround(row, row.example);
    expect(found).toEqual([]);
  });
});
