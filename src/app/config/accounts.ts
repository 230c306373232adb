import type { Path, Problem, YamlFile } from "../../agents/spec/index.js";
import type { ChannelsShape } from "./channels-shape.js";
import type { AccountLimits, ChannelAccount, TelegramAccount } from "./config.js";
import { envVar } from "./fields.js";

const kinds = ["telegram", "whatsapp", "whatsapp_cloud", "webchat"] as const;

/** What one account cannot say by itself, and what two accounts cannot both say. */
export function accountProblems(channels: ChannelsShape, yaml: YamlFile): readonly Problem[] {
  const problems: Problem[] = [];
  for (const kind of kinds)
    twice(channels[kind].map((account) => account.name)).forEach((index) => {
      problems.push(at(kind, index, "name", "two accounts of this channel have this name: give one another name"));
    });
  twice(channels.telegram.map((account) => account.token)).forEach((index) => {
    problems.push(
      at("telegram", index, "token", "two accounts have this bot's token: a bot is one account, so drop one"),
    );
  });
  twice(channels.whatsapp_cloud.map((account) => account.phone_number_id)).forEach((index) => {
    problems.push(at("whatsapp_cloud", index, "phone_number_id", "two accounts have this number: drop one"));
  });
  for (const [index, account] of channels.telegram.entries()) {
    if (account.mode === "webhook" && account.secret_token === undefined)
      problems.push(
        at(
          "telegram",
          index,
          "mode",
          `a webhook without secret_token would believe everybody: add secret_token: ${envVar("TELEGRAM_SECRET")}, or write mode: polling`,
        ),
      );
    if (account.mode === "polling")
      for (const key of ["secret_token", "url"] as const)
        if (account[key] !== undefined)
          problems.push(at("telegram", index, key, `${key} belongs to mode: webhook, and this account polls`, true));
  }
  return problems;

  function at(kind: string, index: number, key: string, message: string, isWarning = false): Problem {
    const path: Path = ["channels", kind, index, key];
    return yaml.problem(path, message, isWarning ? { severity: "warning", at: "key" } : {});
  }
}

/** Places of values that stand earlier in the list already. */
function twice(values: readonly string[]): readonly number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

export function buildAccounts(channels: ChannelsShape): readonly ChannelAccount[] {
  return [
    ...channels.telegram.map((account) => ({
      channel: "telegram" as const,
      ...shared(account),
      token: account.token,
      apiRoot: account.api_root,
      receive: receiving(account),
    })),
    ...channels.whatsapp.map((account) => ({
      channel: "whatsapp" as const,
      ...shared(account),
      ...(account.socket_url === undefined ? {} : { socketUrl: account.socket_url }),
      encryptionKeys: account.encryption_keys,
      pacing: account.pacing,
    })),
    ...channels.whatsapp_cloud.map((account) => ({
      channel: "whatsapp_cloud" as const,
      ...shared(account),
      phoneNumberId: account.phone_number_id,
      accessToken: account.access_token,
      appSecret: account.app_secret,
      verifyToken: account.verify_token,
      graphUrl: account.graph_url,
      ...(account.late_template === undefined ? {} : { lateTemplate: account.late_template }),
    })),
    ...channels.webchat.map((account) => ({
      channel: "webchat" as const,
      ...shared(account),
      ...(account.title === undefined ? {} : { title: account.title }),
      ...(account.locale === undefined ? {} : { locale: account.locale }),
    })),
  ];
}

type Shared = Pick<ChannelsShape["webchat"][number], "name" | "agent" | "limits" | "groups">;

function shared({ name, agent, limits, groups }: Shared) {
  return { name, agent, limits: rates(limits), groups };
}

function rates(limits: Shared["limits"]): AccountLimits {
  if (limits === undefined) return {};
  if (limits === "off") return { account: "off", chat: "off", group: "off" };
  return {
    ...(limits.account === undefined ? {} : { account: limits.account }),
    ...(limits.chat === undefined ? {} : { chat: limits.chat }),
    ...(limits.group === undefined ? {} : { group: limits.group }),
  };
}

function receiving(account: ChannelsShape["telegram"][number]): TelegramAccount["receive"] {
  if (account.mode === "polling" || account.secret_token === undefined) {
    return { mode: "polling", replaceWebhook: account.replace_webhook };
  }
  const { secret_token: secretToken, url } = account;
  return { mode: "webhook", secretToken, ...(url === undefined ? {} : { url }) };
}
