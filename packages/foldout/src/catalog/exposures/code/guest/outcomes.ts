import { getErrorMessage } from '../../../../core/errors.ts'
import type { Outcome, ProgramError } from '../contract/messages.ts'
import { readGuestJson } from './guest-json.ts'
import type { Machine } from './machine.ts'
import { MOST_ERROR_CHARACTERS } from './prelude.ts'

/** The minimum share of its memory that a machine still uses when an out-of-memory error is noticed. */
const FREED_SHARE = 0.25

const STUCK: ProgramError = {
  name: 'Error',
  message: 'The program waits for a promise that nothing will settle: no call and no timer is pending.',
}

const OUT_OF_MEMORY: Outcome = { kind: 'limit', limit: 'memory' }

/**
 * The outcome of a program that returned a value: its JSON, or as much of it as fits, and the length of the whole. It is parsed here,
 * where invalid text ends the program and not the host.
 */
export function toValueOutcome(text: unknown, length: unknown, most: number): Outcome {
  if (text === undefined && length === undefined) return { kind: 'value', value: undefined, text: '', length: 0 }
  // A text that cannot be read did not fit into the machine's memory a second time.
  if (typeof text !== 'string' || typeof length !== 'number') return OUT_OF_MEMORY
  const kept = text.slice(0, most)
  if (kept.length < length) return { kind: 'value', value: undefined, text: kept, length }
  const read = readGuestJson(kept)
  if (!('problem' in read)) return { kind: 'value', value: read.value, text: kept, length }
  return toErrorOutcome({ name: 'TypeError', message: `The value cannot be returned: ${read.problem}.` })
}

/** The outcome of a program that threw something. */
export function toThrownOutcome(values: readonly unknown[], machine: Machine): Outcome {
  const [name, message, stack] = values.map((value) => (typeof value === 'string' ? value : undefined))
  // Without memory for an error, the engine throws null, and some memory is free again by the time it arrives.
  const isNull = message === 'null' && machine.isOutOfMemory(FREED_SHARE)
  if (isNull || message === undefined || (name === 'InternalError' && message === 'out of memory')) return OUT_OF_MEMORY
  const cut = (text: string): string => text.slice(0, MOST_ERROR_CHARACTERS)
  return toErrorOutcome({ name: cut(name ?? 'Error'), message: cut(message), ...machine.placeIn(cut(stack ?? '')) })
}

/** The outcome of a program that broke the engine itself. */
export function toBrokenOutcome(error: unknown): Outcome {
  const message = getErrorMessage(error).slice(0, MOST_ERROR_CHARACTERS)
  if (/out of memory|wasm_malloc failed/.test(message)) return OUT_OF_MEMORY
  if (/call stack/.test(message)) return toErrorOutcome({ name: 'RangeError', message })
  return toErrorOutcome({ name: 'Error', message: `The engine failed: ${message}` })
}

/** The outcome of a program that waits forever. */
export function toStuckOutcome(machine: Machine): Outcome {
  if (machine.isOutOfMemory()) return OUT_OF_MEMORY
  return toErrorOutcome(STUCK)
}

export function toErrorOutcome(error: ProgramError): Outcome {
  return { kind: 'error', error }
}
