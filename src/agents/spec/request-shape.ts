import { z } from "zod";
import { defined, headerName, json, jsonObject, text } from "./fields.js";
import type { JsonValue } from "./json.js";
import type { Parameter, RequestTemplate } from "./manifest-types.js";
import type { Path } from "./yaml-file.js";

export const methodShape = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]);

const plainValue = z.union(
  [z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number(), z.boolean()]))],
  {
    error: "must be text, a number, true or false, or a list of these",
  },
);

/** Headers that belong to the connection itself: setting one would change where a request goes or how it is read. */
const transportHeaders = /^(host|content-length|transfer-encoding|connection|te|trailer|upgrade|expect|proxy-.*)$/i;

export const headersShape = z.record(
  headerName("X-Api-Version").refine((name) => !transportHeaders.test(name), {
    error: "this header is set by the transport: leave it out",
  }),
  z.string().regex(/^[^\r\n\0]*$/, { error: "must be one line" }),
);

export const requestShape = z
  .strictObject({
    method: methodShape,
    path: text("/records/{id}")
      .regex(/^[/{]/, { error: "has to begin with “/”" })
      .regex(/^[^\s\\#\0-\x1f]*$/, { error: "must not hold spaces, “\\” or “#”" })
      .refine((path) => !path.split(/[/?]/).some((part) => part === ".." || part === "."), {
        error: "must not hold “.” or “..” as a step",
      }),
    query: z.record(z.string(), plainValue).default({}),
    headers: headersShape.default({}),
    body: z.union([jsonObject("{ … }"), z.string(), z.array(json)]).optional(),
  })
  .meta({ example: "{ method: GET, path: /records }" });

export const responseShape = z.strictObject({
  select: text("data.items")
    .regex(/^[^.\s]+(\.[^.\s]+)*$/, { error: "must be a dotted path, for example data.items" })
    .optional(),
});

export function buildRequest(request: z.output<typeof requestShape>): RequestTemplate {
  const { method, path, query, headers, body } = request;
  return defined({ method, path, query, headers, body });
}

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export interface TemplateFault {
  /** From the request on. */
  readonly path: Path;
  readonly message: string;
  readonly severity: "error" | "warning";
}

/**
 * What is wrong between a request and the parameters that it may use.
 * @param extra names that the executor fills itself (the cursor of a pagination)
 */
export function templateFaults(
  request: RequestTemplate,
  parameters: readonly Parameter[],
  extra: readonly string[] = [],
): readonly TemplateFault[] {
  const faults: TemplateFault[] = [];
  const declared = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const used = new Set<string>();
  const see = (path: Path, value: JsonValue | undefined): void => {
    if (typeof value === "string") {
      for (const [, name = ""] of value.matchAll(placeholder)) {
        used.add(name);
        const parameter = declared.get(name);
        if (parameter === undefined && !extra.includes(name))
          faults.push({
            path,
            severity: "error",
            message: `{${name}} is no declared parameter: declare it under parameters${listed(declared.keys())}`,
          });
        else if (
          path[0] === "path" &&
          parameter !== undefined &&
          !parameter.required &&
          parameter.default === undefined
        )
          faults.push({
            path,
            severity: "warning",
            message: `{${name}} in a path is optional: a call without it fails; write required: true or a default`,
          });
      }
    } else if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) see([...path, Array.isArray(value) ? Number(key) : key], inner);
  };
  see(["path"], request.path);
  see(["query"], request.query);
  see(["headers"], request.headers);
  see(["body"], request.body);
  for (const name of declared.keys())
    if (!used.has(name))
      faults.push({
        path: [],
        severity: "warning",
        message: `the parameter "${name}" goes nowhere: use {${name}} in path, query, headers or body, or leave it out`,
      });
  return faults;
}

function listed(names: Iterable<string>): string {
  const all = [...names];
  return all.length === 0 ? "" : ` (those are ${all.join(", ")})`;
}
