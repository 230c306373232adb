import { describe, expect, it } from "vitest";
import { createArchive, createPostgresDialect, postgresVersion } from "../../src/evidence/index.js";
import { findPostgres, startPostgres } from "../fixtures/postgres.js";
import { evidenceArchiveContract } from "./evidence-archive.js";

const found = findPostgres();
if ("reason" in found) {
  describe("evidence archive: PostgreSQL", () => {
    it.skip(`is not tested here: ${found.reason}`, () => {});
  });
} else {
  describe("PostgreSQL", () => {
    it("is known by its version, where it answers", async () => {
      const server = await startPostgres(found.programs);
      const url = await server.database();
      expect(await postgresVersion(url)).toMatch(/^\d+/);
      await server.stop();
      expect(await postgresVersion(url)).toBeUndefined();
    });
  });

  evidenceArchiveContract("PostgreSQL", async () => {
    const server = await startPostgres(found.programs);
    const url = await server.database();
    return {
      open: (keys) => createArchive({ dialect: createPostgresDialect(url), keys, now: Date.now }),
      close: () => server.stop(),
    };
  });
}
