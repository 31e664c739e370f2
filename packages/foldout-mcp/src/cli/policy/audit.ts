import { UsageError, type GatewayConfig } from '../../gateway/config/config.ts'
import { requireFile } from '../../gateway/config/text-file.ts'
import { openAuditFile } from '../../gateway/policy/audit/audit-file.ts'
import type { AuditEntry, AuditSearch } from '../../gateway/policy/audit/audit-store.ts'
import { KEPT_AUDITS } from '../../gateway/config/limits.ts'
import type { GatewayStore } from '../../gateway/store/contract/gateway-store.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore, type StoreOptions } from '../support/store.ts'
import { createStyler, toLine, type Stream } from '../support/text.ts'

export interface AuditOptions extends StoreOptions {
  readonly file?: string
  readonly since?: Date
  readonly until?: Date
  readonly tool?: string
  readonly user?: string
  readonly client?: string
  readonly outcome?: string
  readonly limit?: number
  readonly after?: string
  readonly json?: boolean
}

const DEFAULT_LIMIT = 50
const MOST_SHOWN = 100

/** `foldout audit`: finds calls in the audit log, newest first. Returns the exit code. */
export async function searchAudit(options: AuditOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, env } = surroundings
  const { since, until, tool, user, client, outcome, after, limit = DEFAULT_LIMIT } = options
  const filter = { since, until, tool, user, client, outcome, after, limit }
  const page = await (options.file === undefined
    ? withStore(options, surroundings, (store, config) => chooseLog(options, store, config).search(filter))
    : (await openFile(options.file)).search(filter))
  if (options.json) {
    stdout.write(`${JSON.stringify({ entries: page.entries, next: page.next ?? null }, null, 2)}\n`)
    return EXIT.done
  }
  if (page.entries.length === 0) stdout.write('No calls in the audit log match.\n')
  for (const entry of page.entries) stdout.write(`${formatEntry(entry, stdout, env)}\n`)
  if (page.next !== undefined)
    stdout.write(createStyler(stdout, env)('dim', `For the next page, add --after ${page.next}\n`))
  return EXIT.done
}

async function openFile(file: string): Promise<AuditSearch> {
  await requireFile(file)
  return openAuditFile({ file, maxBytes: Infinity, keep: KEPT_AUDITS })
}

/** The log named in the configuration, or the one in the store. */
function chooseLog(
  { store: named }: AuditOptions,
  store: GatewayStore,
  config: GatewayConfig | undefined,
): AuditSearch {
  const { audit } = config ?? {}
  if (named === undefined && audit && 'file' in audit) return openAuditFile(audit)
  if (store.audit) return store.audit
  throw new UsageError(
    'There is no audit log. Name a file with --file or a database with --store, or set "audit" in the configuration.',
  )
}

function formatEntry(entry: AuditEntry, stream: Stream, env: NodeJS.ProcessEnv): string {
  const style = createStyler(stream, env)
  if (entry.lost !== undefined) return style('red', `${entry.at}  ${entry.lost} calls are missing here`)
  const { client, outcome = '', tool = '', preset = '', arguments: args } = entry
  const name = client?.name === undefined ? 'a command' : toLine(client.name)
  const who = client?.user === undefined ? name : `${toLine(client.user)} (${name})`
  const shown = toLine(JSON.stringify(args ?? {})).slice(0, MOST_SHOWN)
  const where = preset === '' ? '' : ` in ${toLine(preset)}`
  const end = `${outcome} in ${entry.durationMs ?? 0} ms`
  const colored = outcome === 'ok' ? end : style('yellow', end)
  const width = [entry.at, toLine(tool), `${who}${where}`, end, shown].join('  ').length
  const first = `${style('dim', entry.at)}  ${style('bold', toLine(tool))}`
  const parts = [`${who}${where}`, colored, style('dim', shown)]
  // On a narrow terminal, the tools stay below each other.
  if (width > (stream.columns ?? Infinity)) return [first, ...parts.map((part) => `  ${part}`)].join('\n')
  return [first, ...parts].join('  ')
}
