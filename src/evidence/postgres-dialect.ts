import { type Dialect, Kysely, PostgresDialect, sql } from "kysely";

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

/** Asks the server something that changes nothing. @returns what it is, or undefined when it does not answer us */
export async function postgresVersion(url: string): Promise<string | undefined> {
  const db = new Kysely<never>({ dialect: createPostgresDialect(url) });
  try {
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(db);
    return rows[0]?.server_version;
  } catch {
    return undefined;
  } finally {
    await db.destroy();
  }
}
