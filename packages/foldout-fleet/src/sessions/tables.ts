import type { PostgresTables } from './database.ts'

export const SESSION_TABLES: PostgresTables = {
  title: 'session store',
  versionTable: 'store_version',
  // 1 had no function, and 2 had one in place of the procedure, and no batches. The function stays where it exists, for processes that
  // still call it.
  // 3 had no leases.
  version: 4,
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
    // The last batches whose rows a snapshot has replaced: the answer to one of them may have been lost.
    `ALTER TABLE ${schema}.sessions ADD COLUMN IF NOT EXISTS batches uuid[] NOT NULL DEFAULT '{}'`,
    writeAppendProcedure(schema),
    `CREATE TABLE IF NOT EXISTS ${schema}.leases (
      session text COLLATE "C" NOT NULL PRIMARY KEY,
      owner text NOT NULL,
      beat bigint NOT NULL,
      ms double precision NOT NULL
    )`,
  ],
}

/**
 * Adds events if the session ends right before them, and otherwise raises a unique violation, as the key does if another writer was
 * faster. A procedure, because a connection keeps the plans of its statements without naming them, and because a call, other than a
 * SELECT of a function, is not planned and has no rows to describe. Kept plans must not scan a table that was small when they were made.
 *
 * The first event is not in an array, which has to be quoted and parsed: an append of one event needs none.
 *
 * The lock is on the session's row as it is now, and a snapshot changes that row: a writer that began before a compaction, and
 * that waits for it, compares with the new number. The key alone would not do, because the rows that the compaction has removed
 * are free again.
 */
function writeAppendProcedure(schema: string): string {
  return `
    CREATE OR REPLACE PROCEDURE ${schema}.append_events(
      given_session text, first_sequence bigint, first_event text, first_scope text, given_batch uuid,
      more_events text[], more_scopes text[]
    ) LANGUAGE plpgsql SET enable_seqscan = off AS $$
    BEGIN
      IF first_sequence = 1 THEN
        INSERT INTO ${schema}.sessions (id, sequence) VALUES (given_session, 0) ON CONFLICT (id) DO NOTHING;
      END IF;
      INSERT INTO ${schema}.events (session, sequence, event, scope, batch)
      SELECT given_session, first_sequence, first_event, first_scope, given_batch
      FROM ${schema}.sessions AS kept
      WHERE kept.id = given_session AND (
        kept.sequence = first_sequence - 1 OR (
          kept.sequence < first_sequence AND EXISTS (
            SELECT FROM ${schema}.events AS last WHERE last.session = given_session AND last.sequence = first_sequence - 1
          )
        )
      )
      FOR SHARE OF kept;
      IF NOT FOUND THEN
        RAISE unique_violation USING MESSAGE = 'The session does not end before event ' || first_sequence;
      END IF;
      IF more_events IS NOT NULL THEN
        INSERT INTO ${schema}.events (session, sequence, event, scope, batch)
        SELECT given_session, first_sequence + given.place, given.event, given.scope, given_batch
        FROM unnest(more_events, more_scopes) WITH ORDINALITY AS given (event, scope, place);
      END IF;
    END $$`
}
