import { readFileSync } from 'node:fs'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { UsageError } from '../gateway/config/config.ts'
import { DEFAULT_TIMEOUT_MS } from '../gateway/upstreams/limits.ts'
import { EXIT } from './exit-codes.ts'
import type { SearchCommandOptions } from './search.ts'
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
    if (surroundings.signal.aborted) return EXIT.interrupted
    // Commander has already printed what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    surroundings.stderr.write(`${toLine(error instanceof Error ? error.message : String(error))}\n`)
    return error instanceof UsageError ? EXIT.usage : EXIT.nothing
  }
}

function createProgram(surroundings: Surroundings, finish: (code: number) => void): Command {
  const program = new Command('foldout')
    .description('Lists and searches the tools of all your MCP servers.')
    .version(surroundings.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void surroundings.stdout.write(text),
      writeErr: (text) => void surroundings.stderr.write(text),
    })
    .showHelpAfterError('(foldout --help says what there is)')
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
  return program
}

function addServerOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <file>',
      'a JSON file with mcpServers; may be given several times (default: .mcp.json)',
      collect,
    )
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

/** A timer cannot wait longer than 24 days. */
const MOST_SECONDS = 86_400

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${MOST_SECONDS}.`)
  }
  return seconds
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}

/** Waits until everything written to a pipe has left the process. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.writable || stream.destroyed) resolve()
    else stream.write('', () => resolve())
  })
}
