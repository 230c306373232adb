import { z } from "zod";
import {
  anyText,
  deepFreeze,
  defined,
  flag,
  headerName,
  httpUrl,
  identifier,
  rateLimitShape,
  seconds,
  slug,
  text,
  version,
} from "./fields.js";
import type { ActionDefinition, IntegrationManifest, ManifestAuth, Pagination } from "./manifest-types.js";
import { buildParameters, parametersShape } from "./parameters.js";
import { hasErrors, type Problem } from "./problem.js";
import { buildRequest, headersShape, requestShape, responseShape, templateFaults } from "./request-shape.js";
import { checkShape } from "./shape.js";
import type { YamlFile } from "./yaml-file.js";

const credential = text("api_key").default("access_token");

const authShape = z
  .discriminatedUnion("scheme", [
    z.strictObject({ scheme: z.literal("none"), credential: text("api_key").optional() }),
    z.strictObject({ scheme: z.literal("bearer"), credential }),
    z.strictObject({ scheme: z.literal("basic"), credential }),
    z.strictObject({ scheme: z.literal("header"), credential, header_name: headerName("X-Api-Key") }),
    z.strictObject({ scheme: z.literal("query"), credential, param_name: text("key") }),
  ])
  .default({ scheme: "none" });

const paginationShape = z.discriminatedUnion("style", [
  z.strictObject({
    style: z.literal("cursor"),
    cursor_param: text("cursor").default("cursor"),
    cursor_path: text("meta.next"),
    cursor_in: z.enum(["query", "body"]).default("query"),
    limit_param: text("limit").optional(),
  }),
  z.strictObject({
    style: z.literal("offset"),
    offset_param: text("offset"),
    limit_param: text("limit").optional(),
  }),
  z.strictObject({ style: z.literal("page"), page_param: text("page"), limit_param: text("limit").optional() }),
  z.strictObject({ style: z.literal("link"), limit_param: text("limit").optional() }),
]);

const actionShape = z.strictObject({
  name: identifier("find_contact"),
  title: text("Find a contact").optional(),
  description: text("Finds a contact by its e-mail address."),
  parameters: parametersShape,
  writes: flag().optional(),
  request: requestShape,
  response: responseShape.default({}),
  pagination: paginationShape.optional(),
  idempotency_header: headerName("Idempotency-Key").optional(),
  rate_limit: rateLimitShape.optional(),
  timeout_seconds: seconds(600, 30).optional(),
  allow_slash: z.array(text("path")).default([]),
});

export const manifestShape = z.strictObject({
  apiVersion: z.literal("astromesh/v1"),
  kind: z.literal("Integration"),
  metadata: z
    .strictObject({
      name: slug("praxis"),
      version,
      description: anyText().default(""),
      labels: z.record(z.string(), z.string()).optional(),
      namespace: text("default").optional(),
    })
    .meta({ example: "{ name: praxis }" }),
  spec: z
    .strictObject({
      base_url: httpUrl("https://api.example.com").optional(),
      auth: authShape,
      defaults: z
        .strictObject({
          timeout_seconds: seconds(600, 30).default(30),
          headers: headersShape.default({}),
          rate_limit: rateLimitShape.optional(),
        })
        .prefault({}),
      actions: z.array(actionShape).min(1).max(500).meta({ example: "[{ name: …, description: …, request: … }]" }),
    })
    .meta({ example: "{ actions: […] }" }),
});

export interface ReadManifest {
  readonly manifest?: IntegrationManifest;
  readonly problems: readonly Problem[];
  /** The name that the file gives itself, also where it is bad. */
  readonly name?: string;
}

/** Checks a `kind: Integration` file. */
export function readManifest(yaml: YamlFile): ReadManifest {
  const name = declaredName(yaml);
  const shape = checkShape(manifestShape, yaml);
  if (!shape.ok) return { problems: shape.problems, ...name };
  const { metadata, spec } = shape.value;
  const problems: Problem[] = [];
  const actions = spec.actions.map(buildAction);
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    const at = ["spec", "actions", index];
    if (seen.has(action.name))
      problems.push(yaml.problem([...at, "name"], "this name stands here twice: give each action its own"));
    seen.add(action.name);
    const extra = action.pagination?.style === "cursor" ? ["cursor", action.pagination.cursorParam] : [];
    for (const fault of templateFaults(action.request, action.parameters, extra)) {
      const path = fault.path.length === 0 ? [...at, "parameters"] : [...at, "request", ...fault.path];
      const key = fault.path.length === 0 ? ("key" as const) : ("value" as const);
      problems.push(yaml.problem(path, fault.message, { severity: fault.severity, at: key }));
    }
    for (const [place, parameter] of action.allowSlash.entries())
      if (!action.parameters.some((declared) => declared.name === parameter))
        problems.push(
          yaml.problem([...at, "allow_slash", place], "allow_slash has to name a declared parameter of this action"),
        );
    if (action.request.method === "GET" && action.request.body !== undefined)
      problems.push(yaml.problem([...at, "request", "body"], "a GET request has no body: use query", { at: "key" }));
  }
  if (hasErrors(problems)) return { problems, ...name };
  const { baseUrl, rateLimit, ...rest } = {
    name: metadata.name,
    version: metadata.version,
    description: metadata.description.trim(),
    file: yaml.file,
    baseUrl: spec.base_url?.replace(/\/+$/, ""),
    auth: buildAuth(spec.auth),
    timeoutMs: Math.round(spec.defaults.timeout_seconds * 1000),
    headers: spec.defaults.headers,
    rateLimit: spec.defaults.rate_limit,
    actions,
  };
  return { manifest: deepFreeze({ ...rest, ...defined({ baseUrl, rateLimit }) }), problems, ...name };
}

export function declaredName(yaml: YamlFile): { readonly name?: string } {
  const parsed = z.object({ metadata: z.object({ name: z.string() }) }).safeParse(yaml.value);
  return parsed.success ? { name: parsed.data.metadata.name } : {};
}

function buildAuth(auth: z.output<typeof authShape>): ManifestAuth {
  switch (auth.scheme) {
    case "none":
      return { scheme: "none" };
    case "header":
      return { scheme: "header", credential: auth.credential, headerName: auth.header_name };
    case "query":
      return { scheme: "query", credential: auth.credential, paramName: auth.param_name };
    default:
      return { scheme: auth.scheme, credential: auth.credential };
  }
}

function buildAction(action: z.output<typeof actionShape>): ActionDefinition {
  return defined({
    name: action.name,
    title: action.title,
    description: action.description.trim(),
    parameters: buildParameters(action.parameters),
    writes: action.writes ?? action.request.method !== "GET",
    request: buildRequest(action.request),
    select: action.response.select,
    pagination: action.pagination === undefined ? undefined : buildPagination(action.pagination),
    idempotencyHeader: action.idempotency_header,
    rateLimit: action.rate_limit,
    timeoutMs: action.timeout_seconds === undefined ? undefined : Math.round(action.timeout_seconds * 1000),
    allowSlash: action.allow_slash,
  });
}

function buildPagination(pagination: z.output<typeof paginationShape>): Pagination {
  const limit = defined({ limitParam: pagination.limit_param });
  switch (pagination.style) {
    case "cursor":
      return {
        style: "cursor",
        cursorParam: pagination.cursor_param,
        cursorPath: pagination.cursor_path,
        cursorIn: pagination.cursor_in,
        ...limit,
      };
    case "offset":
      return { style: "offset", offsetParam: pagination.offset_param, ...limit };
    case "page":
      return { style: "page", pageParam: pagination.page_param, ...limit };
    case "link":
      return { style: "link", ...limit };
  }
}
