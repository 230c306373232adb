// Which room may import which: the table in docs/architecture.md, as rules. A path that no rule allows is an error.
const room = (name) => `^src/${name}/`;

/** room → the other rooms that it may import. Packages are checked for those rooms that may have hardly any. */
const mayImport = {
  errors: [],
  gate: [],
  canonical: ["errors"],
  channels: ["errors"],
  queue: ["errors"],
  ledger: ["errors", "canonical"],
  "agents/spec": ["errors", "canonical"],
  "agents/models": ["errors", "canonical", "agents/spec"],
  "agents/tools": ["errors", "canonical", "agents/spec"],
  "agents/runtime": ["errors", "gate", "canonical", "ledger", "agents/spec", "agents/tools", "agents/models"],
  turns: [
    "errors",
    "channels",
    "canonical",
    "gate",
    "queue",
    "agents/runtime",
    "agents/models",
    "agents/tools",
    "evidence",
    "outbound",
  ],
  outbound: ["errors", "channels", "gate", "evidence", "queue"],
  evidence: ["errors", "canonical", "gate"],
  store: [
    "errors",
    "canonical",
    "channels",
    "gate",
    "queue",
    "ledger",
    "agents/models",
    "turns",
    "outbound",
    "evidence",
  ],
  http: [
    "errors",
    "canonical",
    "channels",
    "gate",
    "queue",
    "ledger",
    "agents/spec",
    "agents/runtime",
    "agents/tools",
    "turns",
    "outbound",
    "evidence",
    "store",
  ],
};

const roomRules = Object.entries(mayImport).map(([name, others]) => ({
  name: `${name} imports only what it may`,
  severity: "error",
  from: { path: room(name) },
  to: { path: "^(src|adapters)/", pathNot: [room(name), ...others.map(room)] },
}));

/** rooms that may import only these packages and Node modules */
const packages = {
  gate: [],
  errors: [],
  channels: [],
  queue: [],
  canonical: ["canonicalize", "crypto", "node:crypto"],
  "agents/spec": ["zod", "yaml", "node:fs", "node:fs/promises", "node:path", "fs", "fs/promises", "path"],
};
const packageRules = Object.entries(packages).map(([name, allowed]) => ({
  name: `${name} imports only its packages`,
  severity: "error",
  from: { path: room(name) },
  to: {
    pathNot: ["^(src|adapters)/", ...allowed.flatMap((each) => [`^${each}$`, `node_modules/${each}/`])],
  },
}));

/** adapters know the contract, errors, and their own platform's library */
const adapterPackages = {
  telegram: ["grammy", "zod"],
  webchat: ["zod"],
  whatsapp: ["@whiskeysockets/baileys", "async-mutex", "zod"],
  "whatsapp-cloud": ["zod"],
};
const adapterRules = Object.entries(adapterPackages).flatMap(([name, allowed]) => [
  {
    name: `adapters/${name} imports only the channel contract`,
    severity: "error",
    from: { path: `^adapters/${name}/` },
    to: { path: "^(src|adapters)/", pathNot: [`^adapters/${name}/`, room("channels"), room("errors")] },
  },
  {
    name: `adapters/${name} imports only its own platform's packages`,
    severity: "error",
    from: { path: `^adapters/${name}/` },
    to: { path: "node_modules/", pathNot: allowed.map((each) => `node_modules/${each}/`) },
  },
]);

module.exports = {
  forbidden: [
    ...roomRules,
    ...packageRules,
    ...adapterRules,
    {
      name: "rooms are entered by their index",
      severity: "error",
      from: { path: "^src/(agents/[^/]+|[^/]+)/" },
      to: { path: "^src/", pathNot: ["^src/$1/", "^src/(agents/[^/]+|[^/]+)/index\\.ts$"] },
    },
    {
      name: "adapters are entered by their index",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^adapters/", pathNot: ["^adapters/[^/]+/index\\.ts$"] },
    },
    {
      name: "only the app knows the adapters",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/app/", "^src/cli/"] },
      to: { path: "^adapters/" },
    },
    {
      name: "no circles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only", "type-import"] } },
    },
    {
      name: "no product code imports tests",
      severity: "error",
      from: { path: "^(src|adapters)/" },
      to: { path: "^(test|bench|examples|scripts)/" },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(adapters/webchat/page|src/http/pages)/" },
  },
};
