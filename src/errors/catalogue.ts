/** Every error code, what it means, and whether trying again may help. Keep docs/errors.md equal (a test does). */
export const errorCatalogue = {
  config_invalid: { retryable: false, meaning: "A configuration, agent, manifest or policy file is not valid." },
  store_unavailable: { retryable: true, meaning: "Redis cannot be reached or did not answer in time." },
  store_unfit: { retryable: false, meaning: "Redis is not there, too old, or not set up as Dale needs it." },
  store_version: { retryable: false, meaning: "A persisted record has a version that this build does not know." },
  model_failed: { retryable: true, meaning: "The model endpoint failed, timed out or answered nonsense." },
  model_refused: {
    retryable: false,
    meaning: "The model endpoint refused the request for good (bad key, unknown model).",
  },
  turn_aborted: { retryable: true, meaning: "A turn was stopped because this process lost it or is shutting down." },
  turn_timeout: { retryable: false, meaning: "A turn took longer than its agent allows." },
  agent_unknown: { retryable: false, meaning: "No agent of that name is loaded." },
  channel_failed: { retryable: true, meaning: "A channel's platform could not be reached or answered nonsense." },
  delivery_unknown: { retryable: false, meaning: "Nothing is known of that outbound message (any more)." },
  secrets_unreadable: { retryable: false, meaning: "Kept credentials were sealed with another key, or altered." },
  attachment_unavailable: {
    retryable: false,
    meaning: "An attachment is larger than is allowed, is gone, or has no bytes.",
  },
  pairing_failed: {
    retryable: false,
    meaning: "An account could not be paired now: it is linked, or nobody answered.",
  },
  lease_lost: { retryable: true, meaning: "Another process owns this account now." },
  approval_rejected: { retryable: false, meaning: "A reviewer said no to the call." },
  approval_timeout: { retryable: false, meaning: "Nobody decided about the call in time." },
  approval_unavailable: {
    retryable: false,
    meaning: "No approval can be asked for: nobody to ask, or a call that cannot be shown.",
  },
  gateway_failed: { retryable: true, meaning: "The gateway's API could not be reached or answered nonsense." },
  archive_unavailable: { retryable: true, meaning: "The evidence archive cannot be opened or did not answer." },
  archive_foreign: { retryable: false, meaning: "The evidence archive at hand is not this installation's." },
  evidence_refused: { retryable: false, meaning: "An entry of the evidence cannot be archived as it is." },
  gateway_refused: { retryable: false, meaning: "The gateway's API refused the token or the request." },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

export type ErrorCode = keyof typeof errorCatalogue;
