import type { RecordedRun, SimulatedCall, SimulatedRequest, SimulatedRun } from 'foldout/telemetry'
import { bound, prompt, recording } from './examples.ts'

const [recorded] = recording.runs
if (recorded === undefined) throw new Error('Nothing was recorded.')
export const run: SimulatedRun & RecordedRun = {
  ...recorded,
  prompt: { ...bound, ns: prompt.ns, key: prompt.key },
  steps: [{ answers: 80 }],
}
export const call: SimulatedCall = { name: 'refund_order', argumentsTokens: 12, resultTokens: 40 }
export const requests: readonly SimulatedRequest[] = []
