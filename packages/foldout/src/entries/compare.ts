/**
 * An honest comparison of two or more ways to run an agent: success, openings, tokens and money, on your own cases.
 *
 * @module foldout/compare
 */

export { compare } from '../compare/compare.ts'
export { readCases } from '../compare/cases/read-cases.ts'
export { graders, type StateReader } from '../compare/grade/graders.ts'
export type { CompareCase, ExpectedCall } from '../compare/contract/cases.ts'
export type {
  CompareArm,
  ComparedPrompt,
  HostAnswer,
  HostTurn,
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
