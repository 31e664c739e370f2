import type { RecordedRun, SimulatedCall, SimulatedRequest, SimulatedRun } from 'foldout/telemetry'

export declare const run: SimulatedRun & RecordedRun
export declare const call: SimulatedCall
export declare const requests: readonly SimulatedRequest[]
