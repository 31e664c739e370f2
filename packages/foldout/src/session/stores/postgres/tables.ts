import type { PostgresTables } from './database.ts'

export const SESSION_TABLES: PostgresTables = {
  title: 'session store',
  versionTable: 'store_version',
  // 1 had no function.
  version: 2,
  // The events have no foreign key: it would be checked for each of them, and a lock on the session's row does the same for all.
  listStatements: (schema) => [
    `CREATE TABLE IF NOT EXISTS ${schema}.sessions (
      id text COLLATE "C" NOT NULL PRIMARY KEY,
      snapshot text,
      sequence bigint NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.events (
      session text COLLATE "C" NOT NULL,
      sequence bigint NOT NULL,
      event text NOT NULL,
      scope text NOT NULL,
      batch uuid NOT NULL,
      PRIMARY KEY (session, sequence)
    )`,
    writeAppendFunction(schema),
  ],
}

/**
 * Adds events if the session ends right before them, and says whether it does; raises a unique violation if another writer was
 * faster. A function, because a connection keeps the plans of its statements without naming them: planning took longer than the
 * rest. Kept plans must not scan a table that was small when they were made.
 *
 * The lock is on the session's row as it is now, and a snapshot changes that row: a writer that began before a compaction, and
 * that waits for it, compares with the new number. The key alone would not do, because the rows that the compaction has removed
 * are free again.
 */
function writeAppendFunction(schema: string): string {
  return `
    CREATE OR REPLACE FUNCTION ${schema}.append_events(
      given_session text, first_sequence bigint, given_events text[], given_scopes text[], given_batch uuid
    ) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
    BEGIN
      IF first_sequence = 1 THEN
        INSERT INTO ${schema}.sessions (id, sequence) VALUES (given_session, 0) ON CONFLICT (id) DO NOTHING;
      END IF;
      PERFORM FROM (SELECT sequence FROM ${schema}.sessions WHERE id = given_session FOR SHARE) AS kept
      WHERE kept.sequence = first_sequence - 1 OR (
        kept.sequence < first_sequence AND EXISTS (
          SELECT FROM ${schema}.events AS last WHERE last.session = given_session AND last.sequence = first_sequence - 1
        )
      );
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO ${schema}.events (session, sequence, event, scope, batch)
      SELECT given_session, first_sequence - 1 + given.place, given.event, given.scope, given_batch
      FROM unnest(given_events, given_scopes) WITH ORDINALITY AS given (event, scope, place);
      RETURN true;
    END $$`
}
