#!/usr/bin/env node
import { createRequire } from "node:module";
import { Command, Option } from "commander";

const roles = ["ingress", "worker", "sender", "http"];
const config = () => new Option("-c, --config <file>", "the configuration").default("dale.yaml");

/** A command's code is loaded when the command is given: it brings much along. */
function command<Given extends unknown[]>(load: () => Promise<(...given: Given) => void | Promise<void>>) {
  return async (...given: Given): Promise<void> => (await load())(...given);
}

const program = new Command("dale")
  .description("A WhatsApp and Telegram gateway for AI agents whose writes wait for the person's own yes.")
  .version(packageVersion())
  .showHelpAfterError();

program
  .command("start")
  .description("run the gateway until SIGTERM, which drains it")
  .addOption(config())
  .option("--roles <roles>", `what this process does, of ${roles.join(",")} (default: what the configuration says)`)
  .option("--strict", "refuse to start when any agent or manifest is bad")
  .action(command(async () => (await import("./start.js")).start));

program
  .command("check")
  .description("say what is wrong with the configuration, the agents and the manifests; start nothing")
  .addOption(config())
  .option("--strict", "fail when any agent or manifest is bad")
  .action(command(async () => (await import("./check.js")).check));

program
  .command("doctor")
  .description("look at Redis, the models and the channels that the configuration names")
  .addOption(config())
  .action(command(async () => (await import("./doctor.js")).doctor));

program
  .command("chat")
  .description("talk to an agent of a running Dale in this terminal")
  .option("--url <url>", "where it runs", "http://127.0.0.1:8080")
  .option("--token <token>", "its token (default: DALE_TOKEN)")
  .option("--agent <name>", "whom to talk to (default: the first)")
  .option("--session <id>", "go on with this session (default: a new one)")
  .action(command(async () => (await import("./chat.js")).chat));

program
  .command("pair <account>")
  .description("link an account of a running Dale with its phone, e.g. whatsapp:shop")
  .option("--phone <number>", "give out a code to type on that phone, instead of one to scan")
  .addOption(config())
  .option("--url <url>", "where it runs (default: what the configuration says)")
  .option("--token <token>", "its token (default: DALE_TOKEN, or what the configuration says)")
  .action(command(async () => (await import("./pair.js")).pair));

program
  .command("mcp")
  .description("serve a running Dale's agents over MCP on stdin and stdout")
  .option("--url <url>", "where it runs", "http://127.0.0.1:8080")
  .option("--token <token>", "its token (default: DALE_TOKEN)")
  .action(command(async () => (await import("./mcp.js")).mcp));

program
  .command("policy")
  .description("rules of policies.yaml")
  .command("test")
  .description("replay recorded calls against a file of rules: what each rule would have stopped")
  .requiredOption("--policies <file>", "the rules")
  .requiredOption("--calls <file>", "recorded calls and confirmations, JSON lines (docs/ledger.md)")
  .action(command(async () => (await import("./policy.js")).testPolicy));

const evidence = program.command("evidence").description("what was shown, typed and run: take it elsewhere, check it");

evidence
  .command("export")
  .description("write the evidence out, from a running Dale or from its archive")
  .addOption(config())
  .option("--session <id>", "of this session only")
  .option("--proposal <id>", "of this proposal only")
  .addOption(
    new Option("--format <format>", "jsonl can be verified; html is one page for one proposal")
      .choices(["jsonl", "csv", "html"])
      .default("jsonl"),
  )
  .addOption(new Option("--locale <locale>", "language of html").choices(["es", "en"]).default("es"))
  .option("--out <file>", "where to (default: stdout)")
  .action(command(async () => (await import("./evidence.js")).exportEvidence));

evidence
  .command("verify [file]")
  .description("find anything that was altered, dropped or reordered: in an exported file, offline, or in the archive")
  .option("--key <file>", "the installation's public key (needed for a file)")
  .option("--head <number:hash>", "a signed head that was kept elsewhere: nothing since may be missing")
  .addOption(config())
  .action(command(async () => (await import("./evidence.js")).verifyEvidence));

evidence
  .command("key")
  .description("print the installation's public key")
  .addOption(config())
  .action(command(async () => (await import("./evidence.js")).evidenceKey));

evidence
  .command("head")
  .description("print the newest signed head, to be kept elsewhere")
  .addOption(config())
  .action(command(async () => (await import("./evidence.js")).evidenceHead));

evidence
  .command("erase")
  .description("remove what the evidence tells of a person; the chain stays checkable")
  .requiredOption("--session <id>", "whose")
  .addOption(config())
  .action(command(async () => (await import("./evidence.js")).eraseEvidence));

await program.parseAsync();

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)("dale/package.json") as { version: string };
  return version;
}
