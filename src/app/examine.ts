import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import { DaleError } from "../errors/index.js";
import { postgresVersion } from "../evidence/index.js";
import { createConnections } from "../store/index.js";
import type { Loaded } from "./boot.js";
import type { DaleConfig, TelegramAccount } from "./config/index.js";
import type { Logger } from "./logger.js";

export interface Finding {
  readonly part: string;
  readonly ok: boolean;
  readonly says: string;
}

export interface ExamineOptions {
  readonly config: DaleConfig;
  readonly loaded: Loaded;
  readonly logger: Logger;
}

const patienceMs = 5000;

/** Asks everything that the configuration depends on whether it is there. Changes nothing anywhere. */
export async function examine(options: ExamineOptions): Promise<readonly Finding[]> {
  const { config, loaded } = options;
  const endpoints = new Map<string, string>();
  for (const { name, model } of loaded.agents) {
    for (const each of [model.primary, model.fallback]) {
      if (each && each.provider !== "scripted" && each.endpoint) endpoints.set(each.endpoint, `model of ${name}`);
    }
  }
  for (const { name, baseUrl } of loaded.connections.values())
    if (baseUrl) endpoints.set(baseUrl, `connection ${name}`);
  for (const account of config.channels) {
    if (account.channel === "whatsapp_cloud") endpoints.set(account.graphUrl, `whatsapp_cloud:${account.name}`);
  }
  return [
    { part: "node", ok: true, says: process.versions.node },
    await redisFinding(options),
    await evidenceFinding(config),
    ...(await Promise.all([...endpoints].map(([url, part]) => reaches(part, url)))),
    ...(await Promise.all(
      config.channels.flatMap((account) => (account.channel === "telegram" ? [bot(account)] : [])),
    )),
  ];
}

async function redisFinding({ config, logger }: ExamineOptions): Promise<Finding> {
  if (!config.redis) {
    try {
      const { stdout } = await promisify(execFile)("redis-server", ["--version"]);
      const version = /v=(\S+)/.exec(stdout)?.[1] ?? "present";
      return {
        part: "redis",
        ok: true,
        says: `a private redis-server ${version}, with its files under ${config.dataDir}`,
      };
    } catch {
      return { part: "redis", ok: false, says: "redis-server is not installed; install it or set redis.url" };
    }
  }
  const connections = createConnections({ address: config.redis, logger });
  try {
    await connections.ready(patienceMs);
    return { part: "redis", ok: true, says: "answers, and does not evict" };
  } catch (error) {
    return { part: "redis", ok: false, says: error instanceof DaleError ? error.message : "cannot be used" };
  } finally {
    await connections.close();
  }
}

async function evidenceFinding({ evidence, dataDir }: DaleConfig): Promise<Finding> {
  const part = "evidence";
  if (evidence.url === undefined) return { part, ok: true, says: `PGlite, with its files under ${dataDir}` };
  const version = await postgresVersion(evidence.url);
  return version === undefined
    ? { part, ok: false, says: "PostgreSQL does not answer at evidence.url, or refuses the user" }
    : { part, ok: true, says: `PostgreSQL ${version} answers` };
}

/** Asks the Bot API who the token belongs to. Its address holds the token, so nothing of a failure is repeated. */
async function bot({ name, apiRoot, token }: TelegramAccount): Promise<Finding> {
  const part = `telegram:${name}`;
  try {
    const response = await fetch(`${apiRoot}/bot${token}/getMe`, { signal: AbortSignal.timeout(patienceMs) });
    if (response.status === 401 || response.status === 404) {
      return { part, ok: false, says: "Telegram refuses the token: take it from @BotFather again" };
    }
    const { result } = z.object({ result: z.object({ username: z.string() }) }).parse(await response.json());
    return { part, ok: true, says: `is @${result.username}` };
  } catch {
    return { part, ok: false, says: `${new URL(apiRoot).origin} does not answer as Telegram does` };
  }
}

/** Any HTTP answer will do: the question is whether somebody is there. */
async function reaches(part: string, url: string): Promise<Finding> {
  const { origin } = new URL(url);
  try {
    await fetch(origin, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(patienceMs) });
    return { part, ok: true, says: `${origin} answers` };
  } catch {
    return { part, ok: false, says: `${origin} does not answer` };
  }
}
