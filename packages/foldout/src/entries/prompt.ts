/**
 * The types of prompts and renders, for helpers that take or return them.
 *
 * @module foldout/prompt
 */

export type { PromptErrorDetails } from '../core/errors.ts'
export type { Json, JsonObject } from '../core/json/json.ts'
export type { InputOf, OutputOf } from '../core/schema/schema.ts'
export type {
  InferredParams,
  Printable,
  Template,
  UnknownPlaceholder,
  UnprintablePlaceholder,
} from '../core/template.ts'
export type { AnyValues, LoadContext, RenderedBody, SectionFiles, ToolsOnDemand } from '../prompt/definition/section.ts'
export type { ConflictingValue } from '../prompt/prompt.ts'
export type { FoldPrice } from '../core/price/fold.ts'
export type { AutoTrace } from '../prompt/render/auto-fold.ts'
export type { BudgetTrace, TokenBudget } from '../prompt/render/budget.ts'
export type { OutputParseErrorKind, OutputSpec, OutputValue } from '../prompt/definition/output.ts'
export type { Heading, HeadingParts } from '../prompt/definition/registry.ts'
export type { RenderedNode } from '../prompt/render/node.ts'
export type { IgnoredVisibility, TraceEntry } from '../prompt/render/rendered-prompt.ts'
export type { ExecuteOptions } from '../tools/execute.ts'
export type { ThrownByTool } from '../tools/thrown.ts'
export type { ToolDefinition } from '../tools/definition.ts'
export type {
  ApprovalNeed,
  CallTarget,
  FoundTarget,
  PromptView,
  ToolAnnotations,
  ToolGroup,
  ToolExample,
} from '../tools/tool.ts'
