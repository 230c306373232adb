import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createArchive, createPgliteDialect } from "../../src/evidence/index.js";
import { childProgram } from "../fixtures/child-process.js";
import { evidenceArchiveContract } from "./evidence-archive.js";

evidenceArchiveContract("PGlite", async () => {
  const root = await mkdtemp(join(tmpdir(), "dale-pglite-"));
  const program = await childProgram("pglite.ts");
  return {
    open: (keys) =>
      createArchive({ dialect: createPgliteDialect({ folder: join(root, "pglite"), program }), keys, now: Date.now }),
    close: () => rm(root, { recursive: true, force: true }),
  };
});
