import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TrustSkill } from 'foldout/skills'
import { followLinks } from '../../clients/files.ts'
import { readConfigServers } from '../../clients/gateway-config.ts'
import { getStateFolder } from '../../clients/places.ts'
import { hideSecrets } from '../../clients/redact.ts'
import { createState, type State } from '../../clients/state.ts'
import { UsageError, type GatewayConfig } from '../../gateway/config/config.ts'
import { DEFAULT_CONFIGS, findDefaultConfig } from '../../gateway/config/own-entry.ts'
import { isCode, readCheckedConfig, readGatewayConfig, type CheckText } from '../../gateway/config/read-config.ts'
import { findPlace, hashContent } from './trusted-content.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import type { Surroundings } from './surroundings.ts'
import { formatSentences, shorten, toLine } from './text.ts'

/** What commands that read a configuration have in common. */
export interface ConfigOptions {
  /** The files the user named. Naming a file is the user's word for it. */
  readonly config?: readonly string[]
  /** Trusts what the folder's files contain now. */
  readonly trust?: boolean
}

/** A configuration, and how to read it again after a change. */
export interface OpenedConfig {
  readonly files: readonly string[]
  readonly config: GatewayConfig
  /** Asks nobody: a change of a folder's file is refused until the user trusts it. */
  reread(): Promise<GatewayConfig>
  /** Whether the user trusts a skill of the folder; undefined if the user named the files. */
  readonly trustSkill: TrustSkill | undefined
}

/**
 * Reads the configuration of a command: the files the user named, or the one in this folder, which the user has to trust first.
 * All commands read configurations here.
 *
 * @throws UsageError if there is none, if the user does not trust it, or if it is wrong.
 */
export async function openConfig(options: ConfigOptions, surroundings: Surroundings): Promise<OpenedConfig> {
  const { config: named = [] } = options
  if (named.length > 0) {
    const reread = (): Promise<GatewayConfig> => readGatewayConfig(named)
    return { files: named, config: await reread(), reread, trustSkill: undefined }
  }
  const files = [requireDefaultConfig()]
  const { confirm: _, ...silent } = surroundings
  return {
    files,
    config: await readCheckedConfig(files, createCheck(options, surroundings)),
    reread: () => readCheckedConfig(files, createCheck({}, silent)),
    trustSkill: createSkillCheck(options, surroundings),
  }
}

/** Whether the user named a file, or one with a default name exists. */
export function hasConfigFile({ config = [] }: ConfigOptions): boolean {
  return config.length > 0 || DEFAULT_CONFIGS.some((file) => existsSync(file))
}

function requireDefaultConfig(): string {
  const found = findDefaultConfig(process.cwd())
  if (found !== undefined) return found
  throw new UsageError(
    [
      `There is no ${DEFAULT_CONFIGS.slice(0, -1).join(', ')} or ${DEFAULT_CONFIGS.at(-1)} in this folder. To create one:`,
      '  foldout import                        imports the servers of your MCP clients',
      '  foldout add <name> -- <command>       adds a server',
      'Or name the file that lists your MCP servers: --config <file>',
    ].join('\n'),
  )
}

/**
 * Reads the configuration for a command on the user's own state, such as approvals. A folder's file that the user has not trusted
 * is not used: the command works on the user's own files then, and says so.
 */
export async function openOwnConfig(
  options: ConfigOptions,
  surroundings: Surroundings,
): Promise<GatewayConfig | undefined> {
  const { config: named = [], trust } = options
  if (named.length > 0 || trust) return (await openConfig(options, surroundings)).config
  const file = findDefaultConfig(process.cwd())
  if (file === undefined) return undefined
  if (await isTrusted(file, await readTextFile(file), getState(surroundings)))
    return (await openConfig(options, surroundings)).config
  const { stderr } = surroundings
  const note = `${file} of this folder is not used, because you have not trusted it. To use it, add --trust or --config ${file}.`
  stderr.write(formatSentences([note], stderr))
  return undefined
}

/** Checks a file of a folder before a command uses or changes it. The user's own word, or a file that does not exist, needs no check. */
export async function requireTrust(file: string, options: ConfigOptions, surroundings: Surroundings): Promise<void> {
  if (existsSync(file)) await createCheck(options, surroundings)(file, await readTextFile(file))
}

/**
 * Checks a file of a folder before a command writes the user's servers to it.
 *
 * @throws UsageError if the user does not trust it, or if it is a link: it could lead anywhere.
 */
export async function requireOwnFile(file: string, options: ConfigOptions, surroundings: Surroundings): Promise<void> {
  const path = await followLinks(file)
  if (path !== resolve(file))
    throw new UsageError(`${file} is a link to ${path}. If you mean that file, name it: --config <file>.`)
  await requireTrust(file, options, surroundings)
}

/**
 * To be called before a command changes a file for the user. The returned function trusts the file as the command has written it, if
 * the user has trusted what was in it before, or if there was none.
 */
export async function carryTrust(file: string, surroundings: Surroundings): Promise<() => Promise<void>> {
  const state = getState(surroundings)
  const isOwn = !existsSync(file) || (await isTrusted(file, await readTextFile(file), state))
  return async () => {
    if (isOwn && existsSync(file)) await record(file, await readTextFile(file), state)
  }
}

/** Trusts a file that a command of the user has just written. */
export async function trustFile(file: string, surroundings: Surroundings): Promise<void> {
  if (existsSync(file)) await record(file, await readTextFile(file), getState(surroundings))
}

/** Checks that the user trusts the text of a file: by a record of it, by `--trust`, or by an answer on the terminal. */
export function createCheck({ trust = false }: ConfigOptions, surroundings: Surroundings): CheckText {
  const state = getState(surroundings)
  return async (file, text) => {
    if (await isTrusted(file, text, state)) return
    if (trust || (await askUser(file, surroundings))) return record(file, text, state)
    throw new UsageError(
      `${toLine(file)} comes from this folder, and you have not trusted what it contains now. Read it first: it can start programs as you, with your variables. To trust it, add --trust. To use it once, name it: --config <file>.`,
    )
  }
}

/** Skills of a folder need trust like its configuration, because models follow what they say. */
function createSkillCheck({ trust = false }: ConfigOptions, surroundings: Surroundings): TrustSkill {
  const state = getState(surroundings)
  const { confirm, stderr } = surroundings
  return async ({ name, digest, folder = name }) => {
    if ((await state.trusted.read(folder))?.content === digest) return true
    const asked = `The skill '${toLine(name)}' in ${toLine(folder)} comes from this folder, and you have not trusted what it says now.`
    if (!trust && confirm) stderr.write(`${asked}\n`)
    if (!trust && !(await confirm?.('Do you trust it?'))) {
      if (!confirm)
        stderr.write(formatSentences([`${asked} Read it first: models follow it. To trust it, add --trust.`], stderr))
      return false
    }
    await state.trusted.write({ file: folder, content: digest })
    return true
  }
}

async function askUser(file: string, { confirm, stderr }: Surroundings): Promise<boolean> {
  if (!confirm) return false
  stderr.write(
    `${[`${toLine(await findPlace(file))} comes from this folder.`, ...(await describe(file))].join('\n')}\n`,
  )
  return confirm('Do you trust it?')
}

const MOST_SHOWN = 10
const MOST_WIDTH = 150

/** Says what a file would start. */
async function describe(file: string): Promise<readonly string[]> {
  if (isCode(file)) return ['It is a program, which would run as you.']
  const servers = await readConfigServers(file).catch(() => new Map<string, never>())
  const lines = Array.from(servers, ([name, definition]) => {
    const { url, command = '', args = [] } = hideSecrets(definition)
    return shorten(toLine(`  ${name}: ${url ?? [command, ...args].join(' ')}`), MOST_WIDTH)
  })
  const more = lines.length > MOST_SHOWN ? [`  and ${lines.length - MOST_SHOWN} more`] : []
  if (lines.length === 0) return []
  return ['It would start or connect to:', ...lines.slice(0, MOST_SHOWN), ...more]
}

async function isTrusted(file: string, text: string, state: State): Promise<boolean> {
  const place = await findPlace(file)
  const known = (await state.trusted.read(place))?.content
  return known !== undefined && known === (await hashContent(place, text))
}

async function record(file: string, text: string, state: State): Promise<void> {
  const place = await findPlace(file)
  await state.trusted.write({ file: place, content: await hashContent(place, text) })
}

/** What this program keeps about the clients and projects of a machine. */
export function getState({ env }: Surroundings): State {
  return createState(getStateFolder({ env, platform: process.platform, project: process.cwd() }))
}
