import type { JsonObject, JsonValue } from "./json.js";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** At most `count` calls in any `perMs` milliseconds. */
export interface CallLimit {
  readonly count: number;
  readonly perMs: number;
}

/** One declared parameter of an action or operation. The order is the file's. */
export interface Parameter {
  readonly name: string;
  /** JSON Schema of the value: `type`, `description`, `enum`, `items`, … without `required`, `title` and `default`. */
  readonly schema: JsonObject;
  readonly required: boolean;
  /** Sent where the model gave none. */
  readonly default?: JsonValue;
  /** Label for the notice; the technical name stays visible beside it. */
  readonly title?: string;
}

/**
 * A request whose strings may hold `{param}`: every one of them is a declared parameter (checked). A value of exactly
 * `"{param}"` takes the argument itself; an entry whose optional parameter was not given is left out.
 */
export interface RequestTemplate {
  readonly method: HttpMethod;
  /** Starts with "/". */
  readonly path: string;
  readonly query: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
}

export type Pagination =
  | {
      readonly style: "cursor";
      /** Name under which the cursor is sent. Default `cursor`. */
      readonly cursorParam: string;
      /** Dotted path of the next cursor in the response's body. */
      readonly cursorPath: string;
      readonly cursorIn: "query" | "body";
      readonly limitParam?: string;
    }
  | { readonly style: "offset"; readonly offsetParam: string; readonly limitParam?: string }
  | { readonly style: "page"; readonly pageParam: string; readonly limitParam?: string }
  /** The next page's address stands in the response's `Link` header (RFC 8288, `rel="next"`). */
  | { readonly style: "link"; readonly limitParam?: string };

/** Which field of the connection signs a request, and how. */
export type ManifestAuth =
  | { readonly scheme: "none" }
  | { readonly scheme: "bearer" | "basic"; readonly credential: string }
  | { readonly scheme: "header"; readonly credential: string; readonly headerName: string }
  | { readonly scheme: "query"; readonly credential: string; readonly paramName: string };

export interface ActionDefinition {
  readonly name: string;
  /** Label for the notice. */
  readonly title?: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** As declared; where it is not, true for every method but GET. Informs (`requires_approval`), gates nothing. */
  readonly writes: boolean;
  readonly request: RequestTemplate;
  /** Dotted path into the response's body; all of it where absent. */
  readonly select?: string;
  readonly pagination?: Pagination;
  /** Header that carries the proposal's id, so that a repetition is recognised on the other side. */
  readonly idempotencyHeader?: string;
  readonly rateLimit?: CallLimit;
  /** Milliseconds. Default: that of the manifest. */
  readonly timeoutMs?: number;
  /** Path parameters whose value may hold "/". */
  readonly allowSlash: readonly string[];
}

/** A `kind: Integration` file. */
export interface IntegrationManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly file: string;
  /** Where absent, the connection's `base_url` is needed. The connection's wins where both are given. */
  readonly baseUrl?: string;
  readonly auth: ManifestAuth;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly rateLimit?: CallLimit;
  readonly actions: readonly ActionDefinition[];
}

/** An entry of connections.yaml. Its fields are secrets: they go into requests and nowhere else. */
export interface Connection {
  readonly name: string;
  readonly baseUrl?: string;
  /** Everything but `base_url`, by the name that a manifest's `auth.credential` uses. */
  readonly credentials: Readonly<Record<string, string | BasicCredential>>;
}

/** For the scheme `basic`. */
export interface BasicCredential {
  readonly username: string;
  readonly password: string;
}
