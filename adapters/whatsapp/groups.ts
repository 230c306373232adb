import { type GroupMetadata, isJidGroup } from "@whiskeysockets/baileys";

/** Who is in which group, for a while: WhatsApp is asked once, not at every message. */
export interface Groups {
  read(jid: string): GroupMetadata | undefined;
  write(metadata: GroupMetadata): void;
  /** Something about the group has changed. */
  forget(jid: string | undefined): void;
}

const keptMs = 5 * 60_000;
const most = 500;

export function createGroups(now: () => number): Groups {
  const known = new Map<string, { readonly metadata: GroupMetadata; readonly until: number }>();
  return {
    read(jid) {
      const found = known.get(jid);
      return found && found.until > now() ? found.metadata : undefined;
    },
    write(metadata) {
      if (!isJidGroup(metadata.id)) return;
      known.delete(metadata.id);
      known.set(metadata.id, { metadata, until: now() + keptMs });
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
    },
    forget: (jid) => void known.delete(jid ?? ""),
  };
}
