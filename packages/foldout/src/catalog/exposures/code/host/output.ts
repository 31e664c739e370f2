import type { Json } from '../../../../core/json/json.ts'
import type { SandboxLog, SandboxRun } from './sandbox-run.ts'

export interface Output {
  readonly logs: readonly SandboxLog[]
  /** Characters that were not kept when they were logged. */
  readonly missingLogs: number
  /** The value as JSON, or its beginning. */
  readonly value: { readonly text: string; readonly length: number } | undefined
}

/** Console output and value, cut to what fits. If both are too long, each has half. */
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
    ...(kept === undefined ? {} : missingValue > 0 ? { valueStart: kept } : { value: JSON.parse(kept) as Json }),
  }
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
