import type { Address, ChannelAdapter } from "../channels/index.js";
import { defaultWords, isLocale, type Locale, type NoticeLevel } from "../gate/index.js";
import type { TurnChannel } from "../turns/index.js";
import type { DaleConfig } from "./config/index.js";

/** Longest notice in an API response, UTF-16 code units. */
const apiTextLength = 64_000;
/** How often an unseen notice is shown again. */
const showAgainLimit = 3;

export interface ChannelRules {
  levelOf(channel: string, account: string): NoticeLevel;
  channelOf(address: Address): TurnChannel;
}

/** What consent hangs on in each channel: the platform's abilities, unless the configuration says otherwise. */
export function createChannelRules(
  gate: DaleConfig["gate"],
  adapterOf: (channel: string, account: string) => ChannelAdapter | undefined,
): ChannelRules {
  const wordsFor = (locale: Locale) => gate.words ?? defaultWords(locale);
  const localeOr = (text: string): Locale => (isLocale(text) ? text : gate.locale);

  function levelOf(channel: string, account: string): NoticeLevel {
    const adapter = adapterOf(channel, account);
    return adapter ? (gate.delivered[adapter.channel] ?? adapter.capabilities.noticeLevel) : "accepted";
  }

  return {
    levelOf,
    channelOf({ channel, account }) {
      const capabilities = adapterOf(channel, account)?.capabilities;
      const maxTextLength = capabilities?.maxTextLength ?? apiTextLength;
      return {
        maxTextLength,
        sentAtResolution: capabilities?.sentAtResolution ?? 1,
        rule: (locale) => ({
          words: wordsFor(localeOr(locale)),
          tolerate: gate.tolerate,
          level: levelOf(channel, account),
          showAgainLimit,
        }),
        noticeStyle: (locale, addressee) => ({
          locale: localeOr(locale),
          words: wordsFor(localeOr(locale)),
          formattingMarks: capabilities?.formattingMarks ?? "",
          maxLength: maxTextLength,
          ...(addressee === undefined ? {} : { addressee }),
        }),
      };
    },
  };
}
