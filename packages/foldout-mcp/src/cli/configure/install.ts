import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ignore } from 'foldout/promises'
import { UsageError } from '../../gateway/config/config.ts'
import type { ClientDescription, Scope } from '../../clients/client.ts'
import { createLaunch } from '../../clients/entries.ts'
import { readConfigServers } from '../../clients/gateway-config.ts'
import { chooseConfig, installGateway, type InstallResult } from '../../clients/install/install.ts'
import { CLIENTS, getClient } from '../../clients/known/clients.ts'
import type { ConfigRelease } from '../../clients/install/release.ts'
import { followLinks } from '../../clients/files.ts'
import { chooseFile, listOwnFiles, type Whereabouts } from '../../clients/places.ts'
import { uninstallGateway, type UninstallResult } from '../../clients/install/uninstall.ts'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount } from 'foldout-shared/numbers'
import { EXIT } from '../support/exit-codes.ts'
import { withServers, type FailedServer } from '../support/session.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { formatDoctorHint, formatSentences, formatWorking, quoteWord } from '../support/text.ts'
import { createCheck, trustFile } from '../support/trust.ts'
import { toJson } from './json.ts'
import { findProject } from './project.ts'

export interface InstallOptions {
  readonly config?: string
  readonly trust?: boolean
  /** True if no folder was named, which means the current one. */
  readonly project?: string | true
  readonly name?: string
  readonly move?: boolean
  readonly edit?: boolean
  readonly dryRun?: boolean
  readonly links?: boolean
  /** Whether every server is started once. Default: on a terminal. */
  readonly start?: boolean
  readonly json?: boolean
}

/** `foldout install <client>`. Returns the exit code. */
export async function install(name: string, options: InstallOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, version } = surroundings
  const client = getClient(name)
  const { scope, where } = locate(options, findProject(options.project), surroundings)
  const server = options.name ?? 'foldout'
  if (server.trim() === '') throw new UsageError("The gateway's name must not be empty.")
  const config = options.config === undefined ? undefined : resolve(options.config)
  const check = createCheck({ trust: options.trust ?? false }, surroundings)
  if (options.links) {
    const target = chooseFile(client, scope, where) ?? ''
    const served = await chooseConfig({ client, config, where, check }, target)
    const link = createLink(client, server, { version, config: served })
    stdout.write(options.json ? toJson({ client: client.name, link }) : `${link}\n`)
    if (!existsSync(served)) stderr.write(formatSentences([describeMissing(served)], stderr))
    return EXIT.done
  }
  const result = await installGateway({
    client,
    scope,
    where,
    name: server,
    version,
    config,
    check,
    isDryRun: options.dryRun ?? false,
    isMove: options.move ?? false,
    isEdit: options.edit ?? false,
  })
  // Checked before, or created now. A file that the user named stays as trusted as it was.
  if (config === undefined && !options.dryRun) await trustFile(result.config, surroundings)
  const undo = `foldout uninstall ${client.name}${formatProject(options)}`
  const move = `foldout install ${client.name}${formatProject(options)} --move`
  const more = { undo, move, empty: await describeEmpty(result.config) }
  // A program that reads JSON gets one document, when everything is done.
  if (!options.json) stdout.write(formatSentences(describeInstalled(client, result, more), stdout))
  const isStarting = !options.dryRun && (options.start ?? surroundings.confirm !== undefined)
  const started = isStarting && more.empty === undefined ? await startOnce(result.config, surroundings) : undefined
  if (options.json) stdout.write(toJson({ ...result, ...dropUndefined({ started }) }))
  else if (started) stdout.write(formatSentences(describeStarted(started, options), stdout))
  return EXIT.done
}

/** The servers that answered, and those that did not, each with its reason. */
interface Started {
  readonly working: readonly string[]
  readonly failed: readonly FailedServer[]
}

/** How long a server may take to start, in seconds. The first start of some downloads a package. */
const START_SECONDS = 60

/**
 * Starts every server of a configuration once, which also fills the cache: the client's first request then has all tools, and the user
 * learns now what does not work. The installation is done already, so nothing here fails it.
 */
async function startOnce(config: string, surroundings: Surroundings): Promise<Started> {
  const options = { config: [config], refresh: true, quiet: true, timeout: START_SECONDS }
  try {
    return await withServers(options, surroundings, async ({ servers, failed }) => ({
      working: servers.map(({ name }) => name).filter((name) => !failed.some((other) => other.name === name)),
      failed,
    }))
  } catch (error) {
    const { message } = error as Error
    surroundings.stderr.write(formatSentences([message], surroundings.stderr))
    return { working: [], failed: [{ name: config, error: message }] }
  }
}

/** Why servers fail is on standard error already. */
function describeStarted({ working, failed }: Started, { config }: InstallOptions): readonly string[] {
  const hint = failed.length > 0 ? ` ${formatDoctorHint(config === undefined ? [] : [config])}` : ''
  return [`${formatWorking(working.length, failed.length)}${hint}`]
}

/**
 * `foldout install` without a client: lists the clients that this machine has files of, so that one of them can be named. Nothing was
 * installed, so this is a usage error. Returns the exit code.
 */
export function listInstallable(options: InstallOptions, surroundings: Surroundings): number {
  const { scope, where } = locate(options, findProject(options.project), surroundings)
  const found = CLIENTS.flatMap((client) => {
    const file = listOwnFiles(client, scope, where).find((one) => existsSync(one))
    if (file === undefined) return []
    return [{ name: client.name, title: client.title, file }]
  })
  if (options.json) {
    surroundings.stdout.write(toJson({ error: { message: NO_CLIENT, exitCode: EXIT.usage }, clients: found }))
    return EXIT.usage
  }
  const [first] = found
  const lines =
    first === undefined
      ? [`No client was found on this machine. These can be named: ${CLIENTS.map(({ name }) => name).join(', ')}`]
      : [
          'These clients were found on this machine:',
          ...found.map(({ name, title, file }) => `  ${name} (${title}): ${file}`),
          `For example: foldout install ${first.name}${formatProject(options)}`,
        ]
  surroundings.stderr.write(formatSentences([NO_CLIENT, ...lines], surroundings.stderr))
  return EXIT.usage
}

const NO_CLIENT = 'Name the client to install the gateway in.'

/** Formats the option that makes another command use the same project. */
function formatProject({ project }: InstallOptions): string {
  if (project === undefined) return ''
  if (typeof project === 'string') return ` --project ${quoteWord(project)}`
  return ' --project'
}

/** A link creates no files. */
function describeMissing(config: string): string {
  return `${config} does not exist yet, so the gateway would not start. Create it before you open the link: foldout import`
}

/** A gateway without servers would look broken. A configuration that is code, or damaged, is not checked. */
async function describeEmpty(config: string): Promise<string | undefined> {
  const servers = await ignore(readConfigServers(config), 'a configuration that is code, or damaged, is not checked')
  if (servers?.size === 0) return 'It has no servers yet. To import those of your clients: foldout import'
  return undefined
}

/** `foldout uninstall <client>`. Returns the exit code. */
export async function uninstall(name: string, options: InstallOptions, surroundings: Surroundings): Promise<number> {
  const client = getClient(name)
  // The project itself may be gone.
  const project = resolve(typeof options.project === 'string' ? options.project : '.')
  const place = locate(options, project, surroundings)
  const result = await uninstallGateway({ client, ...place, isDryRun: options.dryRun ?? false })
  const { stdout } = surroundings
  const sharedWith = result.status === 'absent' ? [] : await listSharing(client, result.file, place)
  const sentences = [...describeUninstalled(client, result), ...describeSharing(sharedWith, result)]
  const names = sharedWith.map((other) => other.name)
  stdout.write(options.json ? toJson({ ...result, sharedWith: names }) : formatSentences(sentences, stdout))
  return EXIT.done
}

/** The other clients that read the same file. */
async function listSharing(
  client: ClientDescription,
  file: string,
  { scope, where }: { readonly scope: Scope; readonly where: Whereabouts },
): Promise<readonly ClientDescription[]> {
  const path = await followLinks(file)
  const isShared = async (other: ClientDescription): Promise<boolean> => {
    const files = await Promise.all(listOwnFiles(other, scope, where).map((one) => followLinks(one)))
    return files.includes(path)
  }
  const others = CLIENTS.filter((other) => other !== client)
  const shared = await Promise.all(others.map(isShared))
  return others.filter((_, i) => shared[i])
}

function describeSharing(
  sharedWith: readonly ClientDescription[],
  { file, status }: UninstallResult,
): readonly string[] {
  if (sharedWith.length === 0) return []
  const titles = sharedWith.map(({ title }) => title).join(', ')
  return [`${file} also belongs to ${titles}, which ${status === 'planned' ? 'would lose' : 'loses'} the gateway, too.`]
}

function locate(
  { project: isOfProject }: InstallOptions,
  project: string,
  { env }: Surroundings,
): { scope: Scope; where: Whereabouts } {
  return {
    scope: isOfProject === undefined ? 'user' : 'project',
    where: { env, platform: process.platform, project },
  }
}

interface LinkTarget {
  readonly version: string
  readonly config: string
}

/** A link that a client opens to install the gateway. */
function createLink({ title, link }: ClientDescription, name: string, { version, config }: LinkTarget): string {
  if (link === undefined) {
    const able = CLIENTS.filter((client) => client.link !== undefined).map((client) => client.name)
    throw new UsageError(`${title} does not support install links. These clients do: ${able.join(', ')}.`)
  }
  const launch = createLaunch(version, config, process.platform)
  const values: Readonly<Record<string, string>> = {
    name: encodeURIComponent(name),
    base64: encodeURIComponent(Buffer.from(JSON.stringify(launch)).toString('base64')),
    named: encodeURIComponent(JSON.stringify({ name, ...launch })),
    program: encodeURIComponent(launch.command),
    args: launch.args.map((arg) => `arg=${encodeURIComponent(arg)}`).join('&'),
  }
  return link.replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
}

/** What the result itself does not say. */
interface InstallAdvice {
  /** The command that undoes it. */
  readonly undo: string
  /** The command that also moves the client's other servers. */
  readonly move: string
  readonly empty: string | undefined
}

function describeInstalled(
  { title }: ClientDescription,
  result: InstallResult,
  { undo, move, empty }: InstallAdvice,
): readonly string[] {
  const { file, status, config, backup, moved, left, notes, by, released } = result
  const how = { command: ' with its own command', file: '' }[by]
  const isPlanned = status === 'planned'
  const heads = {
    installed: `Foldout is installed in ${title}${how}: ${file}`,
    unchanged: `Foldout was already installed in ${title}: ${file}`,
    planned: `Foldout would be installed in ${title}${how}: ${file}`,
  }
  const lines = [
    heads[status],
    `It ${isPlanned ? 'would serve' : 'serves'} ${config}`,
    empty !== undefined && moved.length === 0 && empty,
    ...moved.map((server) => describeMoved(server, isPlanned)),
    ...describeRelease(released, { isPlanned, isReturned: false }),
    backup !== undefined && `A backup of the file: ${backup}`,
    ...notes,
    ...(left.length === 0 ? [] : describeLeft(title, move, left)),
    status === 'installed' && `To undo it: ${undo}`,
  ]
  return lines.filter((line) => line !== false)
}

function describeMoved({ from, to, isNew }: InstallResult['moved'][number], isPlanned: boolean): string {
  if (!isNew) return `Moved before: ${from}${from === to ? '' : `, which is called ${to}`}`
  if (isPlanned) return `Would move: ${from}${from === to ? '' : `, which would be called ${to}`}`
  return `Moved: ${from}${from === to ? '' : ` is now ${to}`}`
}

/** A client that also starts the servers itself saves nothing. */
function describeLeft(title: string, move: string, left: readonly string[]): readonly string[] {
  const them = left.length === 1 ? 'it' : 'them'
  return [
    `${title} also starts ${formatCount(left.length, 'server')} itself: ${left.join(', ')}`,
    `To move ${them} into the gateway: ${move}`,
  ]
}

function describeUninstalled({ title }: ClientDescription, result: UninstallResult): readonly string[] {
  const { status, file, backup, returned, taken, remaining, released, lost } = result
  const isPlanned = status === 'planned'
  const heads = {
    restored: `Foldout was removed from ${title}. The file is as it was before: ${file}`,
    edited: `Foldout was removed from ${title}. Your later changes were kept: ${file}`,
    recreated: `The file of ${title} had been deleted. It was created again, with the servers that were moved: ${file}`,
    returned: `Foldout had already been removed from ${title}. The servers that were moved are back: ${file}`,
    gone: `Foldout had already been removed from ${title}: ${file}`,
    absent: `Foldout is not installed in ${title}: ${file}`,
    planned: `Foldout would be removed from ${title}: ${file}`,
  }
  const lines = [
    heads[status],
    ...returned.map((name) => `${isPlanned ? 'Would be restored' : 'Restored'}: ${name}`),
    ...taken.map((name) => `Not restored: ${name}, because ${title} has another server with this name`),
    ...describeRelease(released, { isPlanned, isReturned: true }),
    ...lost.map(
      ({ config, servers }) =>
        `There is no usable record of the installation, so servers that it moved were not restored. ${config} has ${servers.join(', ')}.`,
    ),
    ...remaining.map(
      (name) => `${name} starts Foldout, as it did before the installation. To remove it, uninstall again.`,
    ),
    backup !== undefined && `A backup of the file: ${backup}`,
  ]
  return lines.filter((line) => line !== false)
}

interface ReleaseContext {
  /** Whether nothing has happened yet. */
  readonly isPlanned: boolean
  /** Whether clients have the moved servers again. */
  readonly isReturned: boolean
}

/** Says what happened to a configuration of the gateway, in full sentences. */
function describeRelease(release: ConfigRelease | undefined, context: ReleaseContext): readonly string[] {
  if (!release) return []
  const { file, changed, unreturned, usedBy } = release
  const earlier = context.isReturned ? ' The client that it came from has its earlier definition.' : ''
  const stays = context.isPlanned ? 'would stay' : 'stays'
  return [
    ...(usedBy.length > 0 ? [`${file} ${stays} as it is, because it is still used by ${usedBy.join(', ')}.`] : []),
    ...describeChange(release, context.isPlanned),
    ...changed.map((name) => `${name} was changed in ${file} after it was moved, so it ${stays} there.${earlier}`),
    ...unreturned.map((name) => `${name} ${stays} in ${file}, because no client has it otherwise.`),
  ]
}

function describeChange({ file, status, removed }: ConfigRelease, isPlanned: boolean): readonly string[] {
  const was = isPlanned ? 'would be' : 'was'
  const names = removed.join(', ')
  const removal = removed.length === 0 ? [] : [`${isPlanned ? 'Would be removed' : 'Removed'} from ${file}: ${names}`]
  if (status === 'removed') {
    const content = removed.length === 0 ? '' : `, with ${names}`
    return [`${file} ${was} removed${content}, because the installation created it.`]
  }
  return removal
}
