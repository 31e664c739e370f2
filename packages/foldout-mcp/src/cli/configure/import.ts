import { resolve } from 'node:path'
import type { ServerDefinition } from '../../gateway/config/definition.ts'
import { collectServers, mergeServers, type Found, type MergedServer, type Source } from '../../clients/collect.ts'
import {
  changeConfig,
  getConfigFile,
  readConfigServers,
  refuseShared,
  toWritten,
} from '../../clients/gateway-config.ts'
import { CLIENTS, getClient } from '../../clients/known/clients.ts'
import { getStateFolder, type Whereabouts } from '../../clients/places.ts'
import { hideSecrets } from '../../clients/redact.ts'
import { createState } from '../../clients/state.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { carryTrust, createCheck, requireOwnFile, type ConfigOptions } from '../support/trust.ts'
import { createStyler, formatSentences, formatTable, toLine, wrapWhole } from '../support/text.ts'
import { toJson } from './json.ts'
import { findProject } from './project.ts'

export interface ImportOptions {
  readonly config?: string
  readonly trust?: boolean
  readonly client?: readonly string[]
  /** False with `--no-project`. */
  readonly project?: string | boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `foldout import`: imports the servers of all clients. Returns the exit code. */
export async function importServers(options: ImportOptions, surroundings: Surroundings): Promise<number> {
  const { env, stdout } = surroundings
  const project = findProject(options.project)
  const where: Whereabouts = { env, platform: process.platform, project }
  const clients = options.client?.map(getClient) ?? CLIENTS
  const isWritten = !options.dryRun && (!options.json || options.config !== undefined)
  const file = isWritten ? getConfigFile(options.config, process.cwd()) : undefined
  if (file !== undefined && options.config === undefined) await requireOwnFile(file, toTrust(options), surroundings)
  const scopes = options.project === false ? (['user'] as const) : (['user', 'project'] as const)
  // What is only shown needs no trust.
  const check = isWritten ? createCheck(toTrust(options), surroundings) : undefined
  const found = await collectServers(clients, scopes, where, check)
  reportProblems(found, surroundings)
  const trustWritten = file === undefined ? undefined : await carryTrust(file, surroundings)
  const merged = file === undefined ? await planServers(found, options) : await writeServers(found, file, where)
  await trustWritten?.()
  const names = options.client ? clients.map(({ title }) => title).join(', ') : `${clients.length} MCP clients`
  stdout.write(
    options.json ? formatJson(merged, found, file) : formatText({ merged, clients: names, file }, surroundings),
  )
  return EXIT.done
}

function toTrust({ trust = false }: ImportOptions): ConfigOptions {
  return { trust }
}

async function writeServers(found: Found, file: string, where: Whereabouts): Promise<readonly MergedServer[]> {
  const state = createState(getStateFolder(where))
  return state.withLock(file, async () => {
    const merged = mergeServers(toWrittenServers(found, file), await readConfigServers(file))
    const added = merged.filter(({ isKnown }) => !isKnown)
    await refuseShared(file, toMap(added))
    if (added.length > 0) await changeConfig(file, toMap(added), state)
    return merged
  })
}

/** Prints what would be written. Reads only the file the user named, so that the output depends on nothing else. */
async function planServers(found: Found, { config }: ImportOptions): Promise<readonly MergedServer[]> {
  if (config === undefined) return mergeServers(found.servers)
  const file = resolve(config)
  return mergeServers(toWrittenServers(found, file), await readConfigServers(file))
}

/** The servers as they are written to a file. */
function toWrittenServers({ servers }: Found, file: string): Found['servers'] {
  return servers.map((server) => ({ ...server, definition: toWritten(server.definition, file) }))
}

function toMap(servers: readonly MergedServer[]): ReadonlyMap<string, ServerDefinition> {
  return new Map(servers.map(({ name, definition }) => [name, definition]))
}

function reportProblems({ problems, skipped }: Found, { stderr, env }: Surroundings): void {
  const style = createStyler(stderr, env)
  for (const { file, message } of problems) {
    stderr.write(`${style('red', `${toLine(file)} is left out:`)} ${toLine(message)}\n`)
  }
  for (const { source, reason } of skipped) {
    stderr.write(style('dim', `${toLine(source.name)} in ${toLine(source.file)} is left out: ${reason}\n`))
  }
}

function formatJson(merged: readonly MergedServer[], { skipped, problems }: Found, file: string | undefined): string {
  const found = merged.filter(({ sources }) => sources.length > 0)
  const servers = found.map(({ name, definition, sources, notes, isKnown }) => ({
    name,
    server: hideSecrets(definition),
    sources,
    notes,
    isKnown,
  }))
  const mcpServers = Object.fromEntries(servers.map(({ name, server }) => [name, server]))
  return toJson({ config: file ?? null, mcpServers, servers, skipped, problems })
}

interface Imported {
  readonly merged: readonly MergedServer[]
  /** The clients whose files were read. */
  readonly clients: string
  /** The file that was written. */
  readonly file: string | undefined
}

function formatText({ merged, clients, file }: Imported, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const found = merged.filter(({ sources }) => sources.length > 0)
  if (found.length === 0)
    return `No servers were found in the files of ${clients}.\nTo add one, run: foldout add <name> -- <command>\n`
  const notes = found.flatMap(({ name, notes: own }) => own.map((note) => `${name}: ${note}`))
  const count = found.filter(({ isKnown }) => !isKnown).length
  const end =
    file === undefined
      ? 'Nothing was written.'
      : `${count} ${count === 1 ? 'server was' : 'servers were'} added to ${file}.`
  const next =
    file === undefined
      ? []
      : ['To see what they cost: foldout tools', 'To use them through the gateway: foldout install <client> --move']
  const colored = notes.flatMap((note) => wrapWhole(toLine(note), stdout.columns).map((line) => style('yellow', line)))
  return `${[...formatServers(found, stdout.columns), ...colored].join('\n')}\n${formatSentences([end, ...next], stdout)}`
}

/** Where each server comes from: in a table, or on a narrow terminal below it. */
function formatServers(servers: readonly MergedServer[], columns = Infinity): readonly string[] {
  const rows = servers.map(({ name, sources, isKnown, definition }) => ({
    head: [toLine(name), `${isKnown ? 'already there' : 'new'}${definition.disabled ? ', disabled' : ''}`],
    sources: sources.map(formatSource),
  }))
  const table = formatTable(rows.map(({ head, sources }) => [...head, sources.join(', ')]))
  if (table.every((line) => line.length <= columns)) return table
  return rows.flatMap(({ head, sources }) => [
    head.join('  '),
    ...sources.flatMap((source) => wrapWhole(source, columns, '  ')),
  ])
}

function formatSource({ client, file }: Source): string {
  return `${client} (${toLine(file)})`
}
