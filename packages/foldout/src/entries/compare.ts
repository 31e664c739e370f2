/**
 * An honest comparison of two or more ways to run an agent: success, openings, tokens and money, on your own cases.
 *
 * @module foldout/compare
 */

export { compare } from '../compare/compare.ts'
export { runArm, type ArmRun } from '../compare/run-arm.ts'
export { planComparison, type ComparePlan, type PlannedArm, type PlannedDrop } from '../compare/plan.ts'
export { readComparison } from '../compare/read-comparison.ts'
export { simulateUser } from '../compare/simulated-user.ts'
export { describeRuns, type ReportOptions } from '../compare/report/report.ts'
export { readSavedLine } from '../compare/file/saved-lines.ts'
export { formatComparison, type ComparisonForm, type ComparisonFormat } from '../compare/format/format.ts'
export { compareMatchers, type CompareMatch } from '../compare/format/matchers.ts'
export { readCases } from '../compare/cases/read-cases.ts'
export { graders, type StateReader } from '../compare/grade/graders.ts'
export type { CompareCase, ExpectedCall } from '../compare/contract/cases.ts'
export type {
  CompareArm,
  ComparedPrompt,
  ComparedAnswer,
  ComparedTurn,
  RunStart,
  SimulatedUser,
  UserTalk,
} from '../compare/contract/arms.ts'
export type {
  CompareOptions,
  ComparePrices,
  CompareProgress,
  GradedCall,
  GradedRun,
  Grader,
  ArmRunOptions,
} from '../compare/contract/options.ts'
export type {
  AgainstBase,
  ArmMoney,
  ArmOpenings,
  ArmReport,
  CaseReport,
  CompareCell,
  CompareReport,
  CompareVerdict,
  CostByCache,
  Interval,
  MissedOpening,
  MissedSection,
} from '../compare/contract/report.ts'
export type {
  SavedCase,
  SavedEvent,
  SavedHeader,
  SavedLine,
  SavedRequest,
  SavedRun,
  SavedText,
} from '../compare/contract/saved.ts'
