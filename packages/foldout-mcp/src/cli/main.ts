import { Command, CommanderError } from 'commander'
import { UsageError } from '../gateway/config/config.ts'
import { readVersion } from '../shared/surroundings.ts'
import { EXIT } from './support/exit-codes.ts'
import { addCompletion, formatHelpJson } from './completion.ts'
import { addCompareCommands } from './compare/commands.ts'
import { addConfigureCommands } from './configure/commands.ts'
import { addFleetCommands } from './fleet/commands.ts'
import { addGatewayCommands } from './gateway/commands.ts'
import type { AddCommands } from './support/options.ts'
import { addPolicyCommands } from './policy/commands.ts'
import { addPromptCommands } from './prompts/commands.ts'
import { addSignInCommands } from './sign-in/commands.ts'
import { addTrafficCommands } from './traffic/commands.ts'
import type { Surroundings } from './support/surroundings.ts'
import { toLine, toPrintable, wrapWhole } from './support/text.ts'
import { getErrorMessage } from '../shared/errors.ts'

/** Every command, in the order of the help. Each group loads its implementation only when one of its commands runs. */
const COMMANDS: readonly AddCommands[] = [
  addConfigureCommands,
  addSignInCommands,
  addGatewayCommands,
  addPolicyCommands,
  addTrafficCommands,
  addFleetCommands,
  addPromptCommands,
  addCompareCommands,
  addCompletion,
]

/** The headings of the help and the commands below them. All other commands are below the last heading. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Set up:', ['import', 'install', 'uninstall', 'add', 'remove', 'login', 'logout']],
  ['Serve:', ['serve', 'record', 'fleet']],
  ['Explore:', ['tools', 'search', 'call', 'doctor', 'inspect']],
  ['Approve and audit:', ['approvals', 'approve', 'deny', 'pins', 'audit']],
  ['Improve:', ['replay', 'eval', 'advise']],
  ['Prompts:', ['render', 'simulate', 'lint', 'compare']],
]
const OTHERS = 'More:'

const START = `
Start here:
  foldout import                   import the servers of your MCP clients
  foldout tools                    see what their tools cost in tokens
  foldout install cursor --move    replace them in a client with the gateway

Run foldout <command> --help for a command’s options and examples.`

/** The last one is for Ctrl+Break on Windows. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const

/** The `foldout` program: reads the command line, runs a command and exits with its code. */
export async function main(argv: readonly string[]): Promise<void> {
  const stop = new AbortController()
  let isInterrupted = false
  const interrupt = (signal: NodeJS.Signals): void => {
    isInterrupted ||= signal === 'SIGINT'
    stop.abort()
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  const { stdout, stderr, env } = process
  let lost: Error | undefined
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe may stop reading, as `head` does. A full disk loses what the command was run for.
    if (error.code !== 'EPIPE') lost ??= error
    stop.abort()
  })
  // Clients may stop reading what a gateway reports. That is no reason to end it.
  stderr.on('error', () => {})
  const own = claimOutput()
  const code = await runCommand(argv, {
    stdout: own.stdout,
    stderr,
    env,
    signal: stop.signal,
    version: readVersion(),
    releaseOutput: own.release,
    ...(process.stdin.isTTY && stderr.isTTY && { confirm: (question: string) => confirm(question, stop.signal) }),
  })
  own.release()
  await flush(stdout, stop.signal)
  if (lost) stderr.write(`The output could not be written: ${toLine(lost.message)}\n`)
  await flush(stderr, stop.signal)
  if (lost) process.exit(EXIT.failed)
  process.exit(isInterrupted && code === EXIT.failed ? EXIT.interrupted : code)
}

/** Asks on the terminal. Standard output may belong to a program that reads it. Only a yes is a yes. */
async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^\s*y(?:es)?\s*$/i.test(await terminal.question(`${question} [y/N] `, { signal }))
  } finally {
    terminal.close()
  }
}

/** Runs one command. Never throws: failures go to standard error and into the exit code. */
export async function runCommand(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  let code: number = EXIT.done
  const finish = (result: number): void => {
    code = result
  }
  // Clients wait for this command, which needs no other.
  const program = createProgram(surroundings, finish, argv[2] === 'serve' ? [addGatewayCommands] : COMMANDS)
  try {
    refuseUnknownCommand(program, argv)
    const help = readHelp(argv)
    if (help && asksForJson(argv)) {
      surroundings.stdout.write(await formatHelpJson(program, help.command))
      return EXIT.done
    }
    await program.parseAsync(argv)
    return code
  } catch (error) {
    if (surroundings.signal.aborted) return EXIT.failed
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    const isUsage = error instanceof CommanderError || error instanceof UsageError
    const exitCode = isUsage ? EXIT.usage : EXIT.failed
    // Commander has already printed its own errors.
    if (!(error instanceof CommanderError)) surroundings.stderr.write(formatError(error, surroundings.stderr.columns))
    if (asksForJson(argv)) surroundings.stdout.write(formatJsonError(error, exitCode))
    return exitCode
  }
}

/** For the help of an unknown command, Commander would show the general help, as if the command existed. */
function refuseUnknownCommand(program: Command, argv: readonly string[]): void {
  const name = readHelp(argv)?.command
  if (name === undefined) return
  const isKnown = program.commands.some((command) => command.name() === name)
  if (!isKnown && name !== 'help') program.error(`error: unknown command '${name}'`)
}

/** Whether help is asked for, and the command that it is asked for; undefined for all commands. */
function readHelp(argv: readonly string[]): { readonly command: string | undefined } | undefined {
  const [first, ...others] = argv.slice(2, argv.includes('--') ? argv.indexOf('--') : undefined)
  const isHelp = [first, ...others].some((word) => word === '--help' || word === '-h')
  if (first !== 'help' && !isHelp) return undefined
  const command = first === 'help' ? others.find((word) => !word.startsWith('-')) : first
  return { command: command?.startsWith('-') ? undefined : command }
}

/** Whether `--json` is among the options. Everything after `--` is the command line of a server. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(2, end === -1 ? undefined : end).includes('--json')
}

/** A program that reads JSON gets JSON, whatever happens. */
function formatJsonError(error: unknown, exitCode: number): string {
  const message = formatError(error)
    .replace(/^error: /, '')
    .trim()
  return `${JSON.stringify({ error: { message, exitCode } }, null, 2)}\n`
}

/** Usage errors are this program's own texts, and may have several lines. */
function formatError(error: unknown, columns?: number): string {
  const text = getErrorMessage(error)
  const isOwn = error instanceof UsageError || error instanceof CommanderError
  const lines = isOwn ? text.split('\n').map(toPrintable) : [toLine(text)]
  // Lists keep their columns.
  const wrapped = lines.flatMap((line) => (line.startsWith(' ') ? [line] : wrapWhole(line, columns)))
  return `${wrapped.join('\n')}\n`
}

/** The program with its commands, or some of them. */
export function createProgram(
  surroundings: Surroundings,
  finish: (code: number) => void,
  commands: readonly AddCommands[] = COMMANDS,
): Command {
  const { stdout, stderr } = surroundings
  const program = new Command('foldout')
    .description('Puts all your MCP servers behind a handful of tools.')
    .version(surroundings.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      ...(stdout.columns !== undefined && { getOutHelpWidth: () => stdout.columns ?? 80 }),
      ...(stderr.columns !== undefined && { getErrHelpWidth: () => stderr.columns ?? 80 }),
    })
    // Without "[options]" on each line, the descriptions fit beside the commands.
    .configureHelp({
      // Below 40 columns, descriptions would be broken within words.
      minWidthToWrap: 20,
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
    })
    .showHelpAfterError('(Run foldout --help to list the commands.)')
    .commandsGroup(OTHERS)
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', START)
  for (const addCommands of commands) addCommands(program, surroundings, finish)
  for (const command of program.commands) {
    const [heading] = GROUPS.find(([, names]) => names.includes(command.name())) ?? []
    if (heading !== undefined) command.helpGroup(heading)
    nameHelp(command, `foldout ${command.name()}`)
  }
  return program
}

/** After a mistake, a command refers to its own help. */
function nameHelp(command: Command, line: string): void {
  command.showHelpAfterError(`(Run ${line} --help to see how to use it.)`)
  for (const inner of command.commands) nameHelp(inner, `${line} ${inner.name()}`)
}

/** How long the reader of the output has to read the rest of it after the program was told to stop. */
const LAST_READ_MS = 1_000

/** Waits until everything written to a stream has left the process. A reader that has stopped reading may never let it. */
function flush(stream: NodeJS.WriteStream, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = (): void => void setTimeout(resolve, LAST_READ_MS)
    if (stop.aborted) giveUp()
    else stop.addEventListener('abort', giveUp, { once: true })
    // The error that destroyed it may not have been reported yet.
    if (!stream.writable || stream.destroyed) setImmediate(resolve)
    else stream.write('', () => resolve())
  })
}

/** Standard output, for one writer. */
interface OwnOutput {
  readonly stdout: {
    readonly isTTY: boolean
    readonly columns: number
    write(text: string): unknown
  }
  /** Lets everyone else write to standard output again. */
  release(): void
}

/**
 * Keeps standard output for this program. What a configuration or a prompt module prints goes to standard error: it would
 * break the one JSON document of a command, or the messages of a gateway.
 */
function claimOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'> = process): OwnOutput {
  const { write } = stdout
  const divert = stderr.write.bind(stderr)
  stdout.write = divert
  return {
    stdout: {
      isTTY: stdout.isTTY,
      // The user may resize the terminal.
      get columns() {
        return stdout.columns
      },
      write: (text) => write.call(stdout, text),
    },
    release() {
      if (stdout.write === divert) stdout.write = write
    },
  }
}
