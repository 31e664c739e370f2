import type { CompareReport } from 'foldout/compare'

export type { ArmReport, CaseReport, CompareCell, CompareReport, CompareVerdict } from 'foldout/compare'

/** A comparison of ways to run an agent, from its saved file. */
export interface CompareView {
  /** Undefined until the file has enough to say anything. */
  readonly report: CompareReport | undefined
  /** Why there is no report. */
  readonly problem: string | undefined
}
