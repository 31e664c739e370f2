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

/** A number as people write it. `Number` would also read `0x10`, `1e3` and a blank text. */
function readNumber(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  return NaN
}

export function readCount(text: string): number {
  const count = readNumber(text)
  if (!Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError('It must be a whole number of at least 1.')
  return count
}

export function readPort(text: string): number {
  const port = readNumber(text)
  if (!Number.isInteger(port) || port > 65_535) throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return port
}

/** Timers cannot wait longer than 24 days. */
const MOST_SECONDS = 86_400

export function readSeconds(text: string): number {
  const seconds = readNumber(text)
  if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, at most ${MOST_SECONDS}.`)
  }
  return seconds
}

export function readAmount(text: string): number {
  const amount = readNumber(text)
  if (!Number.isFinite(amount)) throw new InvalidArgumentError('It must be a number, 0 or more.')
  return amount
}

export function readShare(text: string): number {
  const share = readNumber(text)
  if (!(share <= 1)) throw new InvalidArgumentError('It must be a number from 0 to 1.')
  return share
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
  // `Date` takes any text with a number in it: 5 would be a day in 2001.
  const isWritten = number !== '' || /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.test(text)
  if (!isWritten || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError(
      'It must be a time, such as 2026-11-17 or 2026-11-17T08:00Z, or a duration before now: 90m, 12h, 7d.',
    )
  return time
}
