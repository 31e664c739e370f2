import type { PostgresTables } from 'foldout-fleet'

/** The tables that gateways share. JSON is stored as text, because `jsonb` cannot hold everything that JSON can. */
export const TABLES: PostgresTables = {
  title: 'gateway store',
  versionTable: 'gateway_version',
  // 1 had no results and no turns, 2 had no askers, and 3 had no users of results.
  version: 4,
  listStatements: (schema) => [
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_catalogs (
      id text COLLATE "C" NOT NULL PRIMARY KEY,
      server text NOT NULL,
      hash text NOT NULL,
      snapshot text NOT NULL,
      saved_at timestamptz NOT NULL DEFAULT now()
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_pins (
      id text COLLATE "C" NOT NULL PRIMARY KEY,
      hash text,
      pin text,
      pinned text,
      seen text
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_approvals (
      binding text COLLATE "C" NOT NULL PRIMARY KEY,
      id text COLLATE "C" NOT NULL,
      call text NOT NULL,
      asked_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      approved_at timestamptz,
      denied_at timestamptz,
      used_by uuid
    )`,
    `ALTER TABLE ${schema}.gateway_approvals ADD COLUMN IF NOT EXISTS asker text COLLATE "C" NOT NULL DEFAULT ''`,
    `CREATE INDEX IF NOT EXISTS gateway_approvals_id ON ${schema}.gateway_approvals (id)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_rounds (
      state text COLLATE "C" NOT NULL PRIMARY KEY,
      round text NOT NULL,
      expires_at timestamptz NOT NULL,
      taken_by uuid
    )`,
    `ALTER TABLE ${schema}.gateway_rounds ADD COLUMN IF NOT EXISTS asker text COLLATE "C" NOT NULL DEFAULT ''`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_sign_ins (
      key text COLLATE "C" NOT NULL PRIMARY KEY,
      version uuid NOT NULL,
      record bytea NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_quotas (
      key text COLLATE "C" NOT NULL PRIMARY KEY,
      tokens double precision NOT NULL,
      granted integer NOT NULL,
      updated_at timestamptz NOT NULL,
      full_at timestamptz NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_audit (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL,
      gateway uuid NOT NULL,
      batch uuid NOT NULL,
      place integer NOT NULL,
      client text,
      "user" text,
      preset text,
      tool text,
      outcome text,
      entry text NOT NULL,
      UNIQUE (batch, place)
    )`,
    `CREATE INDEX IF NOT EXISTS gateway_audit_at ON ${schema}.gateway_audit (at)`,
    `CREATE INDEX IF NOT EXISTS gateway_audit_tool ON ${schema}.gateway_audit (tool text_pattern_ops, id)`,
    `CREATE INDEX IF NOT EXISTS gateway_audit_user ON ${schema}.gateway_audit ("user", id)`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateways (
      name uuid NOT NULL PRIMARY KEY,
      host text NOT NULL,
      pid integer NOT NULL,
      version text NOT NULL,
      url text,
      started_at timestamptz NOT NULL DEFAULT now(),
      seen_at timestamptz NOT NULL DEFAULT now()
    )`,
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_turns (
      id text COLLATE "C" NOT NULL PRIMARY KEY,
      by uuid NOT NULL,
      until timestamptz NOT NULL
    )`,
    ...listResults(schema),
    ...listTriggers(schema),
  ],
}

/** Where folded results are. */
function listResults(schema: string): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${schema}.gateway_results (
      id text COLLATE "C" NOT NULL PRIMARY KEY,
      owner text COLLATE "C" NOT NULL,
      is_json boolean NOT NULL,
      data bytea,
      bytes integer NOT NULL,
      kept_by text NOT NULL,
      used_at timestamptz NOT NULL DEFAULT now()
    )`,
    `ALTER TABLE ${schema}.gateway_results ADD COLUMN IF NOT EXISTS kept_for text COLLATE "C" NOT NULL DEFAULT ''`,
    `CREATE INDEX IF NOT EXISTS gateway_results_owner ON ${schema}.gateway_results (owner, used_at)`,
  ]
}

/** Announces every change to the gateways, even one made by hand. */
function listTriggers(schema: string): readonly string[] {
  return [
    `CREATE OR REPLACE FUNCTION ${schema}.gateway_announce() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('foldout_' || md5(TG_TABLE_SCHEMA), TG_TABLE_NAME || ':' || NEW.id);
        RETURN NULL;
      END $$`,
    ...['gateway_catalogs', 'gateway_pins'].map(
      (table) =>
        `CREATE OR REPLACE TRIGGER announce AFTER INSERT OR UPDATE OF hash ON ${schema}.${table}
         FOR EACH ROW EXECUTE FUNCTION ${schema}.gateway_announce()`,
    ),
  ]
}
