import { type Dialect, PostgresDialect } from "kysely";

/** Statements that wait longer for the server than this fail, ms: nobody waits for ever behind a lock. */
const patienceMs = 30_000;

/** PostgreSQL by its URL. The driver is loaded at the first use; connections are made and given up as they are needed. */
export function createPostgresDialect(url: string): Dialect {
  return new PostgresDialect({
    async pool() {
      const { default: pg } = await import("pg");
      const pool = new pg.Pool({
        connectionString: url,
        max: 4,
        connectionTimeoutMillis: 5_000,
        idleTimeoutMillis: 30_000,
        statement_timeout: patienceMs,
        application_name: "dale",
      });
      // A connection that breaks while nobody uses it: the next statement gets another.
      pool.on("error", () => {});
      return pool;
    },
  });
}
