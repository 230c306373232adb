import { z } from "zod";
import { deepFreeze, httpUrl, text, variable } from "./fields.js";
import type { BasicCredential, Connection } from "./manifest-types.js";
import type { Problem } from "./problem.js";
import { checkShape } from "./shape.js";
import type { Environment } from "./variables.js";
import { type Path, readYaml } from "./yaml-file.js";

const basicShape = z.strictObject({ username: text(variable("CRM_USER")), password: text(variable("CRM_PASSWORD")) });

/** One line: a credential becomes a header's value. */
const secretShape = text(variable("CRM_TOKEN")).regex(/^[^\r\n\0]*$/, { error: "must be one line" });

const connectionsShape = z.record(
  text("praxis_main").regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, {
    error: "a connection's name has to begin with a letter or digit and go on with letters, digits, “_”, “.” or “-”",
  }),
  z
    .object({ base_url: httpUrl("https://crm.example.com").optional() })
    .catchall(
      z.union([secretShape, basicShape], {
        error: "must be text (in quotes, if it looks like a number), or username and password",
      }),
    )
    .meta({ example: `{ base_url: https://crm.example.com, api_key: ${variable("CRM_TOKEN")} }` }),
);

export interface LoadedConnections {
  readonly connections: ReadonlyMap<string, Connection>;
  readonly problems: readonly Problem[];
}

/**
 * Reads connections.yaml: names at the top, or below one key `connections`. The result holds secrets.
 * Where a part is bad, no connection is returned.
 */
export async function loadConnections(file: string, env: Environment): Promise<LoadedConnections> {
  const parsed = await readYaml(file, env);
  if (!parsed.ok) return { connections: new Map(), problems: parsed.problems };
  const { yaml } = parsed;
  const wrapped = z.strictObject({ connections: z.record(z.string(), z.record(z.string(), z.unknown())) });
  const inner = wrapped.safeParse(yaml.value);
  const at: Path = inner.success && !isOneConnection(inner.data.connections) ? ["connections"] : [];
  const value = at.length === 0 ? (yaml.value ?? {}) : inner.data?.connections;
  const shape = checkShape(connectionsShape, yaml, value, at);
  if (!shape.ok) return { connections: new Map(), problems: shape.problems };
  const connections = new Map<string, Connection>();
  for (const [name, { base_url, ...credentials }] of Object.entries(shape.value)) {
    const connection = {
      name,
      ...(base_url === undefined ? {} : { baseUrl: base_url.replace(/\/+$/, "") }),
      credentials: credentials as Readonly<Record<string, string | BasicCredential>>,
    };
    connections.set(name, deepFreeze(connection));
  }
  return { connections, problems: [] };
}

/** A connection that is itself called `connections`, with a basic credential as its only field. */
function isOneConnection(fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>): boolean {
  return Object.values(fields).every((field) => basicShape.safeParse(field).success);
}
