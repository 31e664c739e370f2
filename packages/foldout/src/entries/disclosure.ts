/**
 * Building blocks for your own disclosure strategy or your own loop.
 *
 * @module foldout/disclosure
 */

export type {
  DisclosureStrategy,
  DisclosureView,
  FoldedSection,
  OpeningCall,
  OpeningRequest,
  StrategyOptions,
} from '../disclosure/strategy.ts'
export { planOpening, resolveKeys, type OpeningPlan, type ResolvedKeys } from '../disclosure/engine.ts'
export { answerByRestart, answerInPlace } from '../disclosure/tools.ts'
export { applyOpening, chooseAnswer, describeOpened, getNewTools, type OpeningAnswer } from '../disclosure/opening.ts'
export { describeFoldedTool, describeUnknownTool, type HintSource } from '../disclosure/hints.ts'
export type { BySearchOptions } from '../disclosure/ahead/by-search.ts'
export type { AheadContext, AheadRule, OpenAhead } from '../disclosure/ahead/rule.ts'
export { chooseAhead, type AheadChoice, type AheadQuestion } from '../disclosure/ahead/choose.ts'
export { choosePlace, type AheadPlace, type PlaceTerms } from '../core/price/place.ts'
export { describeAhead } from '../disclosure/opening.ts'
export { findMissedWords, type MissedWords, type NeededFor, type ShortText } from '../find/missed-words.ts'
export type { SectionText } from '../find/section-text.ts'
export { createHost, toHostTool } from '../agent/hosts/core/host.ts'
export type {
  Host,
  HostAhead,
  HostAheadOptions,
  HostCall,
  HostCallOptions,
  HostMessageForm,
  HostModel,
  HostOptions,
  HostReply,
  HostReport,
  HostRequest,
  HostResult,
  HostState,
  HostTool,
  HostView,
  MessagesWithAhead,
} from '../agent/hosts/core/contract.ts'
export type { DelegateModel } from '../agent/delegate-models.ts'
export type { Opening } from '../tools/result.ts'
export type { Expansion } from '../agent/policy.ts'
export type { ContextFilesOptions } from '../disclosure/strategies/context-files.ts'
