import { type Dialect, PostgresDialect } from "kysely";
import pg from "pg";

/** Statements that wait longer for the server than this fail, ms: nobody waits for ever behind a lock. */
const patienceMs = 30_000;

/** PostgreSQL by its URL. Connections are made when they are needed, and given up when they are not. */
export function createPostgresDialect(url: string): Dialect {
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
  return new PostgresDialect({ pool });
}
