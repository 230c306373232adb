import type { EvidenceEntry } from "../evidence/index.js";
import { evidenceJson, evidenceKeys, proposalTtlMs } from "./evidence-journal.js";

/**
 * Evidence is written in the script of the change that it tells of. A script that begins with `appendEvidenceLua` calls
 * `append_evidence(key, arg)`, where `key` and `arg` are the places of the first of the keys and of the first of the
 * arguments that `evidenceAppend` made. It costs no round trip, and without entries nothing is written.
 */
export const appendEvidenceLua = `
local function append_evidence(key, arg)
  local count = tonumber(ARGV[arg])
  if count == 0 then return end
  local proposals = tonumber(ARGV[arg + 1])
  local session = ARGV[arg + 2]
  for i = arg + 5, arg + 3 + 2 * count, 2 do
    redis.call('XADD', KEYS[key], '*', 'id', ARGV[i], 'json', ARGV[i + 1])
  end
  redis.call('ZADD', KEYS[key + 1], 'NX', ARGV[arg + 3], session)
  for i = key + 2, key + 1 + proposals do redis.call('SET', KEYS[i], session, 'PX', ARGV[arg + 4]) end
end
`;

export interface EvidenceAppend {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/**
 * @param entries all of `session`; their ids are never used twice: an id that was archived once is not archived again
 * @param at ms since 1970
 */
export function evidenceAppend(
  prefix: string,
  session: string,
  at: number,
  entries: readonly EvidenceEntry[],
): EvidenceAppend {
  const proposals = [...new Set(entries.flatMap(({ proposal }) => (proposal === "" ? [] : [proposal])))];
  return {
    keys: [
      evidenceKeys.stream(prefix, session),
      evidenceKeys.sessions(prefix),
      ...proposals.map((proposal) => evidenceKeys.proposal(prefix, proposal)),
    ],
    args: [
      entries.length,
      proposals.length,
      session,
      at,
      proposalTtlMs,
      ...entries.flatMap((entry) => [entry.id, evidenceJson(entry)]),
    ],
  };
}
