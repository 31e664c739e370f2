import type { Json } from '../../../../core/json/json.ts'
import type { SandboxLog, SandboxRun } from './sandbox-run.ts'

interface ReturnedValue {
  readonly value: Json | undefined
  readonly text: string
  readonly length: number
}

export interface Output {
  readonly logs: readonly SandboxLog[]
  /** Characters of console output that the worker dropped. */
  readonly missingLogs: number
  /** The value, and its JSON or the beginning of it. */
  readonly value: ReturnedValue | undefined
}

/** Cuts console output and value to the limit. If both are too long, each gets half. */
export function fitOutput(
  { logs, missingLogs, value }: Output,
  most: number,
): Pick<SandboxRun, 'logs' | 'value' | 'valueStart' | 'missingCharacters'> {
  const logged = logs.reduce((sum, { text }) => sum + text.length, 0)
  const room = Math.max(most - logged, Math.floor(most / 2))
  const kept = value && value.length > room ? value.text.slice(0, room) : value?.text
  const keptLogs = cutLogs(logs, most - (kept?.length ?? 0))
  const keptCharacters = keptLogs.reduce((sum, { text }) => sum + text.length, 0)
  const missingValue = (value?.length ?? 0) - (kept?.length ?? 0)
  return {
    logs: keptLogs,
    missingCharacters: missingLogs + (logged - keptCharacters) + missingValue,
    ...toKeptValue(value, kept, missingValue > 0),
  }
}

function toKeptValue(
  value: ReturnedValue | undefined,
  kept: string | undefined,
  isCut: boolean,
): Pick<SandboxRun, 'value' | 'valueStart'> {
  if (kept === undefined) return {}
  if (isCut) return { valueStart: kept }
  return value?.value === undefined ? {} : { value: value.value }
}

function cutLogs(logs: readonly SandboxLog[], most: number): readonly SandboxLog[] {
  let left = most
  return logs.flatMap((log) => {
    if (left <= 0) return []
    const text = log.text.slice(0, left)
    left -= log.text.length
    return [{ ...log, text }]
  })
}
