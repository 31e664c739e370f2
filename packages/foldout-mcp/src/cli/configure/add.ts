import { getState } from '../support/trust.ts'
import { untilAborted } from 'foldout/promises'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '../../gateway/config/config.ts'
import type { ServerDefinition } from '../../gateway/config/definition.ts'
import { readDefinition } from '../../gateway/config/read-config.ts'
import { createGateway } from '../../gateway/gateway.ts'
import { loadFormat } from '../../clients/documents/document.ts'
import { findFile } from '../../clients/files.ts'
import { getFolderNeeded } from '../../clients/entries.ts'
import { changeConfig, getUsedConfigFile, readConfigServers, toWritten } from '../../clients/gateway-config.ts'
import { hideSecrets } from '../../clients/redact.ts'
import { listQuestions, readServerJson, type Question } from '../../registry/server-json.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { carryTrust, requireOwnFile } from '../support/trust.ts'
import { formatSentences, toLine, toLines } from '../support/text.ts'
import { toJson } from './json.ts'

export interface AddOptions {
  readonly config?: string
  readonly trust?: boolean
  readonly url?: string
  readonly from?: string
  readonly remote?: boolean
  readonly env?: readonly string[]
  readonly header?: readonly string[]
  readonly set?: readonly string[]
  /** False with `--no-try`. */
  readonly try?: boolean
  readonly timeout?: number
  readonly json?: boolean
}

/** Asks the user for values. Undefined without a terminal, where there is nobody to ask. */
export type Ask = (questions: readonly Question[]) => Promise<ReadonlyMap<Question, string>>

interface Trial {
  readonly isWorking: boolean
  readonly tools: number
  readonly error: string | undefined
  /** Whether signing in is all that is missing. */
  readonly needsSignIn?: true
}

/** `foldout add <name>`: starts a server once to try it, then adds it. Returns the exit code. */
export async function addServer(
  name: string,
  command: readonly string[],
  options: AddOptions,
  surroundings: Surroundings,
  ask?: Ask,
): Promise<number> {
  if (name.trim() === '') throw new UsageError("The server's name must not be empty.")
  const { stdout, stderr } = surroundings
  const file = await chooseFile(options, surroundings)
  await checkFree(name, file)
  const given = await createDefinition(command, options, ask ?? createAsk(surroundings, options))
  const definition = toWritten(addFolder(given), file)
  if (!options.json && options.try !== false && stderr.isTTY === true) stderr.write(`Starting ${toLine(name)} …\n`)
  const trial = options.try === false ? undefined : await tryServer({ name, definition, file }, options, surroundings)
  // A server must be in the configuration before the user can sign in to it.
  const isAdded = trial === undefined || trial.isWorking || trial.needsSignIn === true
  if (trial && !isAdded) return reportFailure(name, trial, options, surroundings)
  const state = getState(surroundings)
  const trustWritten = await carryTrust(file, surroundings)
  await state.withLock(file, async () => {
    await checkFree(name, file)
    return changeConfig(file, new Map([[name, definition]]), state)
  })
  await trustWritten()
  const report = { name, config: file, server: hideSecrets(definition), trial: trial ?? null }
  stdout.write(options.json ? toJson(report) : formatSentences([describeAdded(name, file, trial)], stdout))
  return EXIT.done
}

function reportFailure(name: string, trial: Trial, { json }: AddOptions, { stdout, stderr }: Surroundings): number {
  const lines = toLines(trial.error ?? 'It failed.').join('\n  ')
  const message = `${toLine(name)} does not work, so it was not added: ${lines}\nTo add it anyway, use --no-try.`
  stderr.write(`${message}\n`)
  if (json) stdout.write(toJson({ error: { message, exitCode: EXIT.failed } }))
  return EXIT.failed
}

export interface RemoveOptions {
  readonly config?: string
  readonly trust?: boolean
  readonly json?: boolean
}

/** `foldout remove <name>`. Returns the exit code. */
export async function removeServer(name: string, options: RemoveOptions, surroundings: Surroundings): Promise<number> {
  const file = await chooseFile(options, surroundings)
  const state = getState(surroundings)
  const trustWritten = await carryTrust(file, surroundings)
  await state.withLock(file, async () => {
    if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`)
    const servers = await readConfigServers(file)
    const others = [...servers.keys()].join(', ')
    if (!servers.has(name)) throw new UsageError(`${file} has no server '${name}'. It has ${others || 'none'}.`)
    await changeConfig(file, new Map([[name, undefined]]), state)
  })
  await trustWritten()
  const { stdout } = surroundings
  const report = { name, config: file }
  stdout.write(options.json ? toJson(report) : formatSentences([`${name} was removed from ${file}.`], stdout))
  return EXIT.done
}

/** The file to change. What a folder's file contains is the user's from then on, so the user has to trust it first. */
async function chooseFile({ config, trust = false }: RemoveOptions, surroundings: Surroundings): Promise<string> {
  const file = getUsedConfigFile(config, process.cwd())
  if (config === undefined) await requireOwnFile(file, { trust }, surroundings)
  return file
}

async function checkFree(name: string, file: string): Promise<void> {
  if ((await readConfigServers(file)).has(name))
    throw new UsageError(`${file} already has a server '${name}'. Remove it first: foldout remove ${name}.`)
}

function describeAdded(name: string, file: string, trial: Trial | undefined): string {
  const tools = trial?.tools ?? 0
  if (trial?.needsSignIn) return `${name} was added to ${file}. ${trial.error ?? ''}`
  const tried = trial ? `It works: ${tools} ${tools === 1 ? 'tool' : 'tools'}.` : 'It was not tried.'
  return `${name} was added to ${file}. ${tried}`
}

async function createDefinition(command: readonly string[], options: AddOptions, ask: Ask): Promise<ServerDefinition> {
  const { url, from, env = [], header = [], set = [] } = options
  const ways = [command.length > 0, url !== undefined, from !== undefined].filter(Boolean).length
  if (ways !== 1)
    throw new UsageError(
      'Name the server in exactly one way: -- <command> <arguments>, --url <url> or --from <server.json>.',
    )
  refuseIdleOptions(options)
  const variables = env.map((text) => readPair(text, '--env'))
  if (from !== undefined) {
    // An argument may be called --key, and its answer key.
    const others = set.map((text) => readPair(text.replace(/^-+/, ''), '--set'))
    return createFromRegistry(from, options, [...others, ...variables], ask)
  }
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url)) throw new UsageError('The URL must begin with http:// or https://.')
    const headers = Object.fromEntries(header.map((text) => readPair(text, '--header')))
    return { url, ...(header.length > 0 && { headers }) }
  }
  const [program, ...args] = command
  if (!program) throw new UsageError('The command is empty.')
  return { command: program, args, ...(variables.length > 0 && { env: Object.fromEntries(variables) }) }
}

function refuseIdleOptions({ url, from, env = [], header = [], set = [], remote = false }: AddOptions): void {
  const idle = [
    [header.length > 0 && url === undefined, '--header can be used only with --url.'],
    [set.length > 0 && from === undefined, '--set can be used only with --from.'],
    [remote && from === undefined, '--remote can be used only with --from.'],
    [env.length > 0 && url !== undefined, '--env cannot be used with --url. To send a header, use --header.'],
  ] as const
  const [found] = idle.flatMap(([isIdle, message]) => (isIdle ? [message] : []))
  if (found !== undefined) throw new UsageError(found)
}

/** The user tries the command line in the current folder, but the gateway may be started in any other. */
function addFolder(definition: ServerDefinition): ServerDefinition {
  const { command, args = [] } = definition
  if (command === undefined) return definition
  const cwd = getFolderNeeded([command, ...args.map(String)], process.cwd())
  if (cwd === undefined) return definition
  return { ...definition, cwd }
}

async function createFromRegistry(
  from: string,
  { remote }: AddOptions,
  pairs: readonly (readonly [string, string])[],
  ask: Ask,
): Promise<ServerDefinition> {
  const { text } = await findFile(from)
  if (text === undefined) throw new UsageError(`There is no file ${from}.`)
  const recipe = readServerJson(await parseJson(text, from), from, remote)
  const questions = listQuestions(recipe)
  const listGiven = (wanted: string): readonly string[] =>
    pairs.flatMap(([id, value]) => (id === wanted ? [value] : []))
  const unknown = pairs.map(([id]) => id).filter((id) => !questions.some((question) => question.id === id))
  if (unknown.length > 0) throw new UsageError(`${from} does not ask for ${[...new Set(unknown)].join(', ')}.`)
  for (const question of questions) for (const value of listGiven(question.id)) checkChoice(question, value)
  const repeatable = new Set(questions.filter(({ isRepeatable }) => isRepeatable).map(({ id }) => id))
  const repeated = questions.find(({ id }) => !repeatable.has(id) && listGiven(id).length > 1)
  if (repeated) throw new UsageError(`${repeated.id} takes one value. Name it once.`)
  const isOpen = ({ id, isRequired, fallback }: Question): boolean =>
    isRequired && fallback === undefined && listGiven(id).length === 0
  const answers = await ask(questions.filter(isOpen))
  const byId = new Map(Array.from(answers, ([question, answer]) => [question.id, answer]))
  return recipe(({ id, fallback }) => {
    const given = listGiven(id)
    const other = byId.get(id) ?? fallback
    if (given.length > 0 || other === undefined) return given
    return [other]
  })
}

/** What a variable holds is known only when the server starts. */
function checkChoice({ id, choices }: Question, value: string): void {
  if (choices.length === 0 || choices.includes(value) || value.includes('${')) return
  throw new UsageError(`${id} must be one of ${choices.join(', ')}.`)
}

async function parseJson(text: string, file: string): Promise<unknown> {
  try {
    return (await loadFormat('json')).parse(text)
  } catch (error) {
    throw new UsageError(`${file} cannot be used: ${(error as Error).message}.`)
  }
}

/** Reads `NAME=value`, or `NAME` for the environment variable of that name when the server starts. */
function readPair(text: string, option: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  if (option === '--env' && /^[A-Za-z_]\w*$/.test(text)) return [text, `\${${text}}`]
  throw new UsageError(`${option} needs a name and a value: ${option} NAME=value.`)
}

function createAsk({ stdout, releaseOutput }: Surroundings, { json }: AddOptions): Ask {
  const isTerminal = process.stdin.isTTY && stdout.isTTY === true && !json
  return async (questions) => {
    if (questions.length === 0) return new Map()
    if (!isTerminal) throw new UsageError(`The server needs ${questions.map(formatQuestion).join(', ')}.`)
    const { askQuestions } = await import('./ask.ts')
    releaseOutput?.()
    return askQuestions(questions)
  }
}

function formatQuestion({ id, kind, description, choices }: Question): string {
  const option = kind === 'env' ? '--env' : '--set'
  const about = [description, choices.length > 0 && `one of ${choices.join(', ')}`].filter(Boolean).join('; ')
  return `${id}${about === '' ? '' : ` (${about})`}: ${option} ${id}=<value>`
}

interface NewServer {
  readonly name: string
  readonly definition: ServerDefinition
  readonly file: string
}

async function tryServer(
  { name, definition, file }: NewServer,
  { timeout }: AddOptions,
  { env, signal }: Surroundings,
): Promise<Trial> {
  const config = readDefinition(
    { mcpServers: Object.fromEntries([[name, definition]]) },
    { file, folder: dirname(file) },
  )
  const [invalid] = config.invalid
  if (invalid) return { isWorking: false, tools: 0, error: invalid.reason }
  const gateway = await createGateway(config, {
    env,
    isFresh: true,
    ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
  })
  try {
    await untilAborted(signal, () => gateway.ready())
    const [server] = gateway.servers
    if (server?.state.type === 'failed') {
      const { reason, needsSignIn } = server.state
      return { isWorking: false, tools: 0, error: reason, ...(needsSignIn && { needsSignIn }) }
    }
    return { isWorking: true, tools: server?.tools ?? 0, error: undefined }
  } finally {
    await gateway.close()
  }
}
