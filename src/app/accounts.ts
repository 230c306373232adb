import { createTelegramAdapter } from "../../adapters/telegram/index.js";
import { createWebchatAdapter } from "../../adapters/webchat/index.js";
import { createWhatsappCloudAdapter } from "../../adapters/whatsapp-cloud/index.js";
import type { ChannelAdapter, ChannelHost, ChannelStatus } from "../channels/index.js";
import { sessionOf } from "../channels/index.js";
import type { SlotStore } from "../gate/index.js";
import type { DeliveryStore, NoticeWatch } from "../outbound/index.js";
import type { OrderedQueue } from "../queue/index.js";
import { createRedisChannelStore, type Shard, type Signals } from "../store/index.js";
import { chatOf, type TurnRequest, turnOf } from "../turns/index.js";
import type { CloudSiblings } from "./cloud-siblings.js";
import type { ChannelAccount } from "./config/index.js";
import type { Logger } from "./logger.js";
import type { Metrics } from "./metrics.js";

export interface Account {
  readonly settings: ChannelAccount;
  readonly adapter: ChannelAdapter;
  /** Calls back when the account's state changes; the last one who asks is told. */
  onStatus(tell: (status: ChannelStatus) => void): void;
}

export interface AccountsOptions {
  readonly shard: Shard;
  readonly signals: Signals;
  readonly inbound: Pick<OrderedQueue<TurnRequest>, "add">;
  readonly watch: NoticeWatch;
  readonly deliveries: Pick<DeliveryStore, "interrupt" | "partOf">;
  readonly slots: Pick<SlotStore, "apply">;
  readonly siblings: CloudSiblings;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Builds the adapter of one account, with the application behind it. Nothing talks until it is started. */
export async function createAccount(settings: ChannelAccount, options: AccountsOptions): Promise<Account> {
  const { channel, name, agent } = settings;
  const labels = { channel, account: name };
  let tell: (status: ChannelStatus) => void = () => {};
  const host: ChannelHost = {
    async receive(message) {
      const data: TurnRequest = { version: 1, kind: "message", agent, message };
      // Before it is enqueued: a yes that arrives later may answer this message instead of a notice.
      if (message.group) await options.deliveries.interrupt(chatOf(message), message.sender);
      const result = await options.inbound.add({ id: turnOf(message), key: sessionOf(message), data });
      options.metrics.inbound.inc({ ...labels, result });
      return result;
    },
    receipt: (receipt) => options.watch.receipt(channel, name, receipt),
    async overheard({ chat, id }) {
      if (id !== undefined && (await options.deliveries.partOf(channel, name, id)) !== undefined) return;
      await options.deliveries.interrupt(`${channel}:${name}:${chat}`);
    },
    async retracted(message) {
      const whole = { channel, account: name, ...message };
      await options.slots.apply(sessionOf(whole), { type: "retract", turn: turnOf(whole), at: options.now() });
    },
    statusChanged: (status) => tell(status),
    count: (event) => options.metrics.channelEvents.inc({ ...labels, event }),
    store: createRedisChannelStore({ ...options.shard, signals: options.signals, channel, account: name }),
    logger: options.logger.child({ channel }),
    now: options.now,
  };
  return {
    settings,
    adapter: await createAdapter(settings, host, options.siblings),
    onStatus(next) {
      tell = next;
    },
  };
}

async function createAdapter(
  settings: ChannelAccount,
  host: ChannelHost,
  siblings: CloudSiblings,
): Promise<ChannelAdapter> {
  switch (settings.channel) {
    case "telegram": {
      const { name, token, apiRoot, groups, receive } = settings;
      return createTelegramAdapter({ name, token, apiRoot, groups, receive }, host);
    }
    case "webchat": {
      const { name, title, locale } = settings;
      const words = { ...(title === undefined ? {} : { title }), ...(locale === undefined ? {} : { locale }) };
      return createWebchatAdapter({ name, ...words }, host);
    }
    case "whatsapp": {
      const { name, groups, socketUrl, encryptionKeys, pacing } = settings;
      // Its library takes a second and 60 MB to load: only where there is such an account.
      const { createWhatsappAdapter } = await import("../../adapters/whatsapp/index.js");
      const server = socketUrl === undefined ? {} : { socketUrl };
      return createWhatsappAdapter({ name, groups, encryptionKeys, pacing, ...server }, host);
    }
    case "whatsapp_cloud": {
      const { name, phoneNumberId, accessToken, appSecret, verifyToken, graphUrl, groups, lateTemplate } = settings;
      const adapter = createWhatsappCloudAdapter(
        {
          name,
          phoneNumberId,
          accessToken,
          appSecret,
          verifyToken,
          graphUrl,
          groups,
          siblings: siblings.of(settings),
          ...(lateTemplate === undefined ? {} : { lateTemplate }),
        },
        host,
      );
      siblings.add(settings, adapter);
      return adapter;
    }
  }
}
