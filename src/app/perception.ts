import { createTranscriber } from "../agents/models/index.js";
import type { ChannelAdapter } from "../channels/index.js";
import { DaleError } from "../errors/index.js";
import { createPerception, type Perception } from "../turns/index.js";
import type { MediaConfig } from "./config/index.js";
import type { Logger } from "./logger.js";

/**
 * Bytes come from the account's adapter in this process. One that needs its connection for that, and does not hold it
 * here, rejects: then the agent is told what came, and that it could not be loaded.
 */
export function createMediaPerception(
  media: MediaConfig,
  adapterOf: (channel: string, account: string) => ChannelAdapter | undefined,
  logger: Logger,
): Perception {
  const { maxBytes, transcription } = media;
  return createPerception({
    maxBytes,
    logger,
    async fetch({ channel, account }, attachment, signal) {
      const adapter = adapterOf(channel, account);
      if (!adapter?.fetchAttachment) throw new DaleError("attachment_unavailable", "This channel hands over no files.");
      return adapter.fetchAttachment(attachment, maxBytes, signal);
    },
    ...(transcription === undefined ? {} : { transcribe: createTranscriber(transcription) }),
  });
}
