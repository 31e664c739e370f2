/**
 * Prompts that fold, and the loop that runs them.
 *
 * @module foldout
 */

export {
  FoldoutError,
  type ErrorCode,
  PromptRenderError,
  PromptValidationError,
  type PromptErrorDetails,
} from '../core/errors.ts'
export type { Json, JsonObject } from '../core/json/json.ts'
export {
  defineParams,
  fromJsonSchema,
  type InputOf,
  type JsonSchema,
  type OutputOf,
  type StandardSchemaV1,
  type ToolSchema,
} from '../core/schema/schema.ts'
export {
  md,
  type InferredParams,
  type Printable,
  type Template,
  type UnknownPlaceholder,
  type UnprintablePlaceholder,
} from '../core/template.ts'
export { createCachedCounter, estimatedTokens, type TokenCount, type TokenCounter } from '../core/tokens/tokens.ts'
export { createMemoryStore } from '../session/stores/memory-store.ts'
export { createSession, type Session } from '../session/session.ts'
export { defineSlice } from '../session/slice.ts'
export { openSession } from '../session/stores/store.ts'
export type { Visibility } from '../session/visibility.ts'
export { executeTool, type ExecuteOptions } from '../tools/execute.ts'
export type { Filesystem } from '../files/filesystem.ts'
export { fail, ok, type ToolFailure, type ToolImage, type ToolResult, type ToolSuccess } from '../tools/result.ts'
export {
  defineTool,
  type AnyTool,
  type CallTarget,
  type PromptView,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolExample,
  type ToolOptions,
} from '../tools/tool.ts'
export { contextFiles, type ContextFilesOptions } from '../disclosure/strategies/context-files.ts'
export { openOrRead } from '../disclosure/strategies/open-or-read.ts'
export { openSections } from '../disclosure/strategies/open-sections.ts'
export { readSection } from '../disclosure/strategies/read-section.ts'
export type { DisclosureStrategy, StrategyOptions } from '../disclosure/strategy.ts'
export type { BudgetTrace, TokenBudget } from '../prompt/budget.ts'
export type { RenderedNode } from '../prompt/render/node.ts'
export {
  OutputParseError,
  parseOutput,
  type OutputParseErrorKind,
  type OutputSpec,
  type OutputValue,
} from '../prompt/output.ts'
export {
  definePrompt,
  type AnyPrompt,
  type BoundPrompt,
  type ConflictingValue,
  type Prompt,
  type PromptOptions,
  type RenderOptions,
} from '../prompt/prompt.ts'
export type { Heading, HeadingParts } from '../prompt/render/registry.ts'
export type { IgnoredVisibility, RenderedPrompt, TraceEntry } from '../prompt/render/rendered-prompt.ts'
export {
  defineSection,
  type AnySection,
  type AnyValues,
  type ToolsOnDemand,
  type RenderedBody,
  type Section,
  type SectionOptions,
  type Selector,
  type SelectorContext,
} from '../prompt/section.ts'
export type { Message, ProviderAdapter, ToolCall, Usage } from '../adapters/contract.ts'
export { AdapterError } from '../adapters/adapter-error.ts'
export {
  LimitReachedError,
  RunAbortedError,
  VisibilityExpansionRequired,
  getRunState,
  type LimitKind,
} from '../agent/errors.ts'
export type { AgentEvent } from '../agent/events.ts'
export type { TokenLimits } from '../agent/limits.ts'
export type { AgentOptions, AgentResult, AgentTurn } from '../agent/options.ts'
export type { OpeningPolicy } from '../agent/policy.ts'
export { evaluatePrompt, runAgent, streamAgent, type AgentStream } from '../agent/run-agent.ts'
export { agentRun, type RunState } from '../agent/loop/run-state.ts'
