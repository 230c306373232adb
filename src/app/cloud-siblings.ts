import type { Sibling } from "../../adapters/whatsapp-cloud/index.js";
import type { WhatsappCloudAccount } from "./config/index.js";

/**
 * The Cloud API accounts of this process. Meta sends the webhook calls of all numbers of one app to whichever of the
 * app's URLs it was given, so an account may be told what is another's; only of its own app, whose secret has signed it.
 */
export interface CloudSiblings {
  add(settings: WhatsappCloudAccount, sibling: Sibling): void;
  of(settings: WhatsappCloudAccount): (phoneNumberId: string) => Sibling | undefined;
}

export function createCloudSiblings(): CloudSiblings {
  const all: { readonly settings: WhatsappCloudAccount; readonly sibling: Sibling }[] = [];
  return {
    add(settings, sibling) {
      all.push({ settings, sibling });
    },
    of: (settings) => (phoneNumberId) =>
      all.find((one) => one.settings.phoneNumberId === phoneNumberId && one.settings.appSecret === settings.appSecret)
        ?.sibling,
  };
}
