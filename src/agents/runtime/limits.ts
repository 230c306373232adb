/** What bounds a run, whatever the model does. */
export interface RunLimits {
  /** Tool calls that one step of the model may make. Default 16. */
  readonly callsPerStep: number;
  /** Tool calls of a whole run, nested runs included. Default 64. */
  readonly callsPerRun: number;
  /** How deep agents may call agents, and chains follow chains. Default 5. */
  readonly depth: number;
  /** Longest tool result that a model is given, in UTF-16 code units. Default 65,536; the rest is cut, said so. */
  readonly resultLength: number;
  /** Calls of a whole run that may wait for a reviewer. Default 5. */
  readonly parked: number;
  /** Propuestas of a whole run. Default 20. */
  readonly propuestas: number;
  /** Bytes of one propuesta's arguments, as UTF-8 JSON. Default 16 KiB. */
  readonly propuestaBytes: number;
}

export const defaultLimits: RunLimits = {
  callsPerStep: 16,
  callsPerRun: 64,
  depth: 5,
  resultLength: 65_536,
  parked: 5,
  propuestas: 20,
  propuestaBytes: 16 * 1024,
};
