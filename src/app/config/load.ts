import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  checkShape,
  type Environment,
  hasErrors,
  type Path,
  type Problem,
  readYaml,
  type YamlFile,
} from "../../agents/spec/index.js";
import { createWords } from "../../gate/index.js";
import { accountProblems, buildAccounts } from "./accounts.js";
import type { DaleConfig } from "./config.js";
import { envVar, isLoopback } from "./fields.js";
import { type ConfigShape, configShape } from "./shape.js";

export type LoadedConfig =
  | {
      readonly ok: true;
      readonly config: DaleConfig;
      /** Warnings. */
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads and checks dale.yaml. Never rejects.
 * @param env what `${NAME}` is replaced from, usually process.env
 */
export async function loadConfig(path: string, env: Environment): Promise<LoadedConfig> {
  const parsed = await readYaml(path, env);
  if (!parsed.ok) return parsed;
  const { yaml } = parsed;
  const checked = checkShape(configShape, yaml);
  if (!checked.ok) return checked;
  const shape = checked.value;
  const folder = dirname(resolve(path));
  const words = checkWords(shape.gate.words, yaml);
  const places = await checkPlaces(shape, folder, yaml);
  const problems = [
    ...words.problems,
    ...places.problems,
    ...accountProblems(shape.channels, yaml),
    ...exposureProblems(shape, yaml),
  ];
  if (hasErrors(problems)) return { ok: false, problems };
  const config = buildConfig(shape, folder, places.found, words.words, path);
  return { ok: true, config, problems };
}

function checkWords(
  given: readonly string[] | undefined,
  yaml: YamlFile,
): { readonly words?: readonly string[]; readonly problems: readonly Problem[] } {
  if (given === undefined) return { problems: [] };
  const at: Path = ["gate", "words"];
  const whole = createWords(given);
  if (whole.ok) return { words: whole.words, problems: [] };
  const bad = given.flatMap((word, index) => {
    const one = createWords([word]);
    // The gate's sentence begins with the word, which may have come from a variable.
    return one.ok
      ? []
      : [yaml.problem([...at, index], `this word ${one.problem.slice(JSON.stringify(word).length + 1)}`)];
  });
  return { problems: bad.length > 0 ? bad : [yaml.problem(at, `${whole.problem} Write for example [si, dale].`)] };
}

type Place = "agents" | "integrations" | "connections" | "policies";
const defaultPlaces: Readonly<Record<Place, string>> = {
  agents: "agents",
  integrations: "integrations",
  connections: "connections.yaml",
  policies: "policies.yaml",
};

/** What the file names has to be there; what it does not name is used where it is there. */
async function checkPlaces(
  shape: ConfigShape,
  folder: string,
  yaml: YamlFile,
): Promise<{ readonly found: Partial<Record<Place, string>>; readonly problems: readonly Problem[] }> {
  const found: Partial<Record<Place, string>> = {};
  const problems: Problem[] = [];
  for (const place of ["agents", "integrations", "connections", "policies"] as const) {
    const named = shape[place];
    const path = resolve(folder, named ?? defaultPlaces[place]);
    const wantsFolder = place === "agents" || place === "integrations";
    const entry = await stat(path).catch(() => undefined);
    if (entry !== undefined && (wantsFolder ? entry.isDirectory() : entry.isFile())) found[place] = path;
    else if (named !== undefined)
      problems.push(
        yaml.problem(
          [place],
          `there is no such ${wantsFolder ? "folder" : "file"}: the path counts from this file's folder`,
        ),
      );
  }
  return { found, problems };
}

function exposureProblems({ http }: ConfigShape, yaml: YamlFile): readonly Problem[] {
  if (isLoopback(http.host) || http.token !== undefined) return [];
  return [
    yaml.problem(
      ["http", "host"],
      `reaches beyond this machine, so the API needs a token: add token: ${envVar("DALE_TOKEN")} under http, or write host: 127.0.0.1`,
    ),
  ];
}

function buildConfig(
  shape: ConfigShape,
  folder: string,
  places: Partial<Record<Place, string>>,
  words: readonly string[] | undefined,
  path: string,
): DaleConfig {
  const { gate, http, evidence, media } = shape;
  return freeze({
    file: resolve(path),
    dataDir: resolve(folder, shape.data_dir),
    ...(shape.redis === undefined ? {} : { redis: shape.redis }),
    shards: shape.shards,
    roles: [...new Set(shape.roles)],
    ...places,
    gate: {
      locale: gate.locale,
      ttlMs: gate.ttl,
      resume: gate.resume,
      receiptWaitMs: gate.receipt_wait,
      ...(words === undefined ? {} : { words }),
      tolerate: gate.tolerate,
      delivered: present(gate.delivered),
    },
    channels: buildAccounts(shape.channels),
    http: { host: http.host, port: http.port, ...(http.token === undefined ? {} : { token: http.token }) },
    egress: shape.egress,
    evidence: {
      ...(evidence.url === undefined ? {} : { url: evidence.url }),
      ...(evidence.retention === undefined ? {} : { retentionMs: evidence.retention }),
      ...(evidence.key === undefined ? {} : { key: evidence.key }),
    },
    media: {
      maxBytes: media.max_bytes,
      ...(media.transcription === undefined
        ? {}
        : {
            transcription: {
              endpoint: media.transcription.endpoint,
              model: media.transcription.model,
              ...(media.transcription.api_key === undefined ? {} : { apiKey: media.transcription.api_key }),
              ...(media.transcription.language === undefined ? {} : { language: media.transcription.language }),
            },
          }),
    },
    log: shape.log,
  });
}

function present<Key extends string, Value>(
  entries: Readonly<Partial<Record<Key, Value | undefined>>>,
): Readonly<Partial<Record<Key, Value>>> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Partial<
    Record<Key, Value>
  >;
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
