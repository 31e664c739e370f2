import { InvalidArgumentError, type Command } from 'commander'
import { UsageError } from '../../gateway/config/config.ts'
import { DEFAULT_TIMEOUT_MS } from '../../gateway/upstreams/limits.ts'
import type { Surroundings } from './surroundings.ts'
import { TRUST_OPTION } from './trust-option.ts'

/** Adds commands to the program. A command passes its exit code to `finish`. */
export type AddCommands = (program: Command, surroundings: Surroundings, finish: (code: number) => void) => void

const TIMEOUT = `how long to wait for each server (default: ${DEFAULT_TIMEOUT_MS / 1_000})`

/** Adds the options of commands that connect to the servers of a configuration. */
export function addServerOptions(command: Command, { timeout = TIMEOUT } = {}): Command {
  return command
    .option(
      '-c, --config <file>',
      'a file with mcpServers; repeatable (default: foldout.config.ts, foldout.config.json or .mcp.json)',
      collect,
    )
    .option(...TRUST_OPTION)
    .option('-p, --preset <name>', 'use only this preset from the configuration')
    .option('--cache <folder>', 'where to keep the servers’ tools between starts')
    .option('--store <url>', 'a database that gateways share, postgres://…, instead of files')
    .option('--refresh', 'ask the servers for their tools, ignoring the cache')
    .option('--timeout <seconds>', timeout, readSeconds)
    .option('--json', 'print JSON')
    .option('-q, --quiet', 'report only servers that fail')
}

/** The end of a command's help. */
export function formatExamples(...examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`
}

/** Collects the values of a repeatable option. */
export function collect(value: string, others: readonly string[] = []): readonly string[] {
  return [...others, value]
}

export function readCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return count
}

export function readPort(text: string): number {
  const port = Number(text)
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return port
}

/** Timers cannot wait longer than 24 days. */
const MOST_SECONDS = 86_400

export function readSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${MOST_SECONDS}.`)
  }
  return seconds
}

/** Reads an option whose value is a JSON object. Without a value, the object is empty. */
export function readJsonObject(option: string, text = '{}'): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (error) {
    throw new UsageError(`${option} is not valid JSON: ${(error as Error).message}`)
  }
  throw new UsageError(`${option} must be a JSON object, such as '{"city": "Oslo"}'.`)
}

/** Reads a time, such as `2026-11-17` or `2026-11-17T08:00Z`, or a duration before now: `90m`, `12h`, `7d`. */
export function readTime(text: string): Date {
  const [, number = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const minutes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1_440 }
  const ago = Number(number) * (minutes[unit] ?? 0) * 60_000
  const time = new Date(number === '' ? text : Date.now() - ago)
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError(
      'It must be a time, such as 2026-11-17 or 2026-11-17T08:00Z, or a duration before now: 90m, 12h, 7d.',
    )
  return time
}
