import { randomUUID } from 'node:crypto'
import { createPostgresStore } from 'foldout-fleet'
import { ignore } from 'foldout/promises'
import type { GatewayStore } from '../contract/gateway-store.ts'
import { SWEEP_MS } from './limits.ts'
import { createAuditRows } from './audit.ts'
import { watchChanges } from './changes.ts'
import { createCipher, type KeySource } from './cipher.ts'
import { openSharedDatabase, type SharedDatabase } from './database.ts'
import { createApprovalRows, createQuotaRows } from './decisions.ts'
import { createCatalogRows, createPinRows } from './definitions.ts'
import { createGatewayRows } from './gateways.ts'
import { openLine } from './line.ts'
import { createResultRows } from './results.ts'
import { createSignInRows } from './sign-ins.ts'

export interface PostgresStoreOptions extends KeySource {
  readonly url: string
  readonly schema: string | undefined
  /** How long to wait for an unreachable database, at the start and for decisions. */
  readonly patienceMs?: number
  onProblem(message: string): void
}

/**
 * Opens the store that gateways share.
 *
 * @throws UsageError if the database cannot be used.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<GatewayStore> {
  const { onProblem } = options
  const database = await openSharedDatabase(options)
  const line = openLine(database)
  const changes = watchChanges(database, line)
  const gateways = createGatewayRows(database, line, changes)
  const sweeping = setInterval(() => void ignore(sweep(database), 'the next sweep is soon'), SWEEP_MS)
  sweeping.unref()
  return {
    isShared: true,
    catalogs: createCatalogRows(database, changes, onProblem),
    approvals: createApprovalRows(database),
    pins: createPinRows(database, changes, onProblem),
    signIns: createSignInRows(database, changes, { cipher: createCipher(options), onProblem }),
    quotas: createQuotaRows(database),
    audit: createAuditRows(database, randomUUID()),
    results: createResultRows(database),
    gateways,
    async openSessions() {
      return createPostgresStore({ pool: database.pool, schema: database.schema.replaceAll('"', '') })
    },
    async close() {
      clearInterval(sweeping)
      await changes.close()
      await gateways.leave()
      await line.close()
      await database.close()
    },
  }
}

/** Removes expired rows, which are already ignored before. */
async function sweep({ schema, ask }: SharedDatabase): Promise<void> {
  const old = `now() - interval '1 hour'`
  await ask('be written', `DELETE FROM ${schema}.gateway_approvals WHERE expires_at < ${old}`)
  await ask('be written', `DELETE FROM ${schema}.gateway_rounds WHERE expires_at < ${old}`)
  await ask('be written', `DELETE FROM ${schema}.gateway_results WHERE used_at < ${old}`)
  // A bucket that is full is the same as none.
  await ask('be written', `DELETE FROM ${schema}.gateway_quotas WHERE full_at < ${old}`)
}
