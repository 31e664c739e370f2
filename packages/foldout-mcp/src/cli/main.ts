import { Command, CommanderError } from 'commander'
import { UsageError } from '../gateway/config/config.ts'
import { readVersion } from '../gateway/surroundings.ts'
import { EXIT } from './exit-codes.ts'
import { addCompletion } from './completion.ts'
import { addConfigureCommands } from './configure/commands.ts'
import { addFleetCommands } from './fleet/commands.ts'
import { addGatewayCommands } from './gateway-commands.ts'
import type { AddCommands } from './options.ts'
import { addPolicyCommands } from './policy/commands.ts'
import { addPromptCommands } from './prompts/commands.ts'
import { addSignInCommands } from './sign-in/commands.ts'
import { addTrafficCommands } from './traffic/commands.ts'
import type { Surroundings } from './session.ts'
import { toLine, toPrintable } from './text.ts'

/** Every command, in the order of the help. Each group loads its implementation only when one of its commands runs. */
const COMMANDS: readonly AddCommands[] = [
  addConfigureCommands,
  addSignInCommands,
  addGatewayCommands,
  addPolicyCommands,
  addTrafficCommands,
  addFleetCommands,
  addPromptCommands,
  addCompletion,
]

/** The headings of the help and the commands below them. All other commands are below the last heading. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Set up:', ['import', 'install', 'uninstall', 'add', 'remove', 'login', 'logout']],
  ['Serve:', ['serve', 'record', 'fleet']],
  ['Explore:', ['tools', 'search', 'call', 'doctor', 'inspect']],
  ['Approve and audit:', ['approvals', 'approve', 'deny', 'pins', 'audit']],
  ['Improve:', ['replay', 'eval', 'advise']],
  ['Prompts:', ['render', 'simulate']],
]
const OTHERS = 'More:'

const START = `
Start here:
  foldout import                   import the servers of your MCP clients
  foldout tools                    see what their tools cost in tokens
  foldout install cursor --move    replace them in a client with the gateway

Run foldout <command> --help for a command’s options and examples.`

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The `foldout` program: reads the command line, runs a command and exits with its code. */
export async function main(argv: readonly string[]): Promise<void> {
  const stop = new AbortController()
  const interrupt = (): void => stop.abort()
  for (const signal of SIGNALS) process.on(signal, interrupt)
  // The reader of a pipe may stop reading, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') stop.abort()
  })
  const { stdout, stderr, env } = process
  const code = await runCommand(argv, { stdout, stderr, env, signal: stop.signal, version: readVersion() })
  await Promise.all([flush(stdout), flush(stderr)])
  process.exit(code)
}

/** Runs one command. Never throws: failures go to standard error and into the exit code. */
export async function runCommand(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  let code: number = EXIT.done
  const program = createProgram(surroundings, (result) => {
    code = result
  })
  try {
    await program.parseAsync(argv)
    return code
  } catch (error) {
    if (surroundings.signal.aborted) return EXIT.failed
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    surroundings.stderr.write(formatError(error))
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

/** Usage errors are this program's own texts, and may have several lines. */
function formatError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  if (!(error instanceof UsageError)) return `${toLine(text)}\n`
  return `${text.split('\n').map(toPrintable).join('\n')}\n`
}

/** The program with all its commands. */
export function createProgram(surroundings: Surroundings, finish: (code: number) => void): Command {
  const { stdout, stderr } = surroundings
  const program = new Command('foldout')
    .description('Puts all your MCP servers behind a handful of tools.')
    .version(surroundings.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      ...(stdout.columns === undefined ? {} : { getOutHelpWidth: () => stdout.columns ?? 80 }),
      ...(stderr.columns === undefined ? {} : { getErrHelpWidth: () => stderr.columns ?? 80 }),
    })
    // Without "[options]" on each line, the descriptions fit beside the commands.
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace('[options]', '').trim()}`.trim(),
    })
    .showHelpAfterError('(Run foldout --help to list the commands.)')
    .commandsGroup(OTHERS)
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', START)
  for (const addCommands of COMMANDS) addCommands(program, surroundings, finish)
  for (const command of program.commands) {
    const [heading] = GROUPS.find(([, names]) => names.includes(command.name())) ?? []
    if (heading !== undefined) command.helpGroup(heading)
  }
  return program
}

/** Waits until everything written to a stream has left the process. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.writable || stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })
}
