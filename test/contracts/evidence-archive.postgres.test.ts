import { describe, it } from "vitest";
import { createArchive, createPostgresDialect } from "../../src/evidence/index.js";
import { findPostgres, startPostgres } from "../fixtures/postgres.js";
import { evidenceArchiveContract } from "./evidence-archive.js";

const found = findPostgres();
if ("reason" in found) {
  describe("evidence archive: PostgreSQL", () => {
    it.skip(`is not tested here: ${found.reason}`, () => {});
  });
} else {
  evidenceArchiveContract("PostgreSQL", async () => {
    const server = await startPostgres(found.programs);
    const url = await server.database();
    return {
      open: (keys) => createArchive({ dialect: createPostgresDialect(url), keys, now: Date.now }),
      close: () => server.stop(),
    };
  });
}
