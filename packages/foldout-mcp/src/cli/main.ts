import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { UsageError } from '../gateway/config/config.ts'
import { readVersion } from '../gateway/surroundings.ts'
import { DEFAULT_TIMEOUT_MS } from '../gateway/upstreams/limits.ts'
import { addConfigureCommands } from './configure/commands.ts'
import { EXIT } from './exit-codes.ts'
import type { SearchCommandOptions } from './search.ts'
import type { CallOptions } from './call.ts'
import type { ServeOptions } from './serve.ts'
import type { ServerOptions, Surroundings } from './session.ts'
import { toLine } from './text.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The `foldout` program: reads the command line, runs a command, and ends the process with its exit code. */
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

/** Runs one command. It never throws: failures are reported on standard error and in the exit code. */
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
    // Commander has already printed what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    surroundings.stderr.write(`${toLine(error instanceof Error ? error.message : String(error))}\n`)
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

function createProgram(surroundings: Surroundings, finish: (code: number) => void): Command {
  const program = new Command('foldout')
    .description('Puts all your MCP servers behind a handful of tools.')
    .version(surroundings.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void surroundings.stdout.write(text),
      writeErr: (text) => void surroundings.stderr.write(text),
    })
    .showHelpAfterError('(foldout --help says what there is)')
  addServerOptions(program.command('serve'))
    .description('serve all servers to an MCP client: over standard input and output, and over HTTP')
    .option('--http <port>', 'listen on 127.0.0.1 too, at /mcp and /mcp/<preset>; 0 takes any free port', readPort)
    .option('--expose <name>', 'how clients see the tools: auto, all, hybrid, meta-tool, two-phase or code')
    .action(async (options: ServeOptions) => {
      const { serve } = await import('./serve.ts')
      finish(await serve(options, surroundings))
    })
  addServerOptions(program.command('call'))
    .description('run one tool')
    .argument('<tool>', 'its name, as foldout tools shows it')
    .option('-a, --args <json>', 'its arguments, as a JSON object')
    .action(async (tool: string, options: CallOptions) => {
      const { callTool } = await import('./call.ts')
      finish(await callTool(tool, options, surroundings))
    })
  addServerOptions(program.command('doctor'))
    .description('start every server and say what is wrong with it')
    .action(async (options: ServerOptions) => {
      const { examineServers } = await import('./doctor.ts')
      finish(await examineServers(options, surroundings))
    })
  addServerOptions(program.command('tools'))
    .description('list the tools of all servers')
    .action(async (options: ServerOptions) => {
      const { listTools } = await import('./tools.ts')
      finish(await listTools(options, surroundings))
    })
  addServerOptions(program.command('search'))
    .description('find tools by what they do, as a model would')
    .argument('<query...>', 'what the tool should do')
    .option('-n, --limit <number>', 'show at most this many tools', readCount)
    .action(async (words: readonly string[], options: SearchCommandOptions) => {
      const { searchTools } = await import('./search.ts')
      finish(await searchTools(words.join(' '), options, surroundings))
    })
  addConfigureCommands(program, surroundings, finish)
  return program
}

function addServerOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <file>',
      'a file with mcpServers; may be given several times (default: foldout.config.ts, foldout.config.json or .mcp.json)',
      collect,
    )
    .option('-p, --preset <name>', 'use only this preset of the configuration')
    .option('--cache <folder>', 'where the tools of servers are kept between starts')
    .option('--refresh', 'ask the servers for their tools, whatever is cached')
    .option('--timeout <seconds>', `wait for each server (default: ${DEFAULT_TIMEOUT_MS / 1_000})`, readSeconds)
    .option('--json', 'print JSON for programs')
    .option('-q, --quiet', 'say nothing about servers that work')
}

function collect(file: string, others: readonly string[] = []): readonly string[] {
  return [...others, file]
}

function readCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return count
}

function readPort(text: string): number {
  const port = Number(text)
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return port
}

/** A timer cannot wait longer than 24 days. */
const MOST_SECONDS = 86_400

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${MOST_SECONDS}.`)
  }
  return seconds
}

/** Waits until everything written to a pipe has left the process. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.writable || stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })
}
