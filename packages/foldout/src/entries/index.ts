/**
 * Prompts that fold, and the loop that runs them: everything you need to write prompts and agents. Catalogs of tools,
 * adapters, telemetry and the details of sessions have their own entries.
 *
 * @module foldout
 */

// Sections and prompts
export { md } from '../core/template.ts'
export {
  defineParams,
  fromJsonSchema,
  type JsonSchema,
  type StandardSchemaV1,
  type ToolSchema,
} from '../core/schema/schema.ts'
export {
  defineSection,
  type AnySection,
  type Section,
  type SectionOptions,
  type Selector,
  type SelectorContext,
} from '../prompt/definition/section.ts'
export {
  definePrompt,
  type AnyPrompt,
  type BoundPrompt,
  type Prompt,
  type PromptOptions,
  type RenderOptions,
} from '../prompt/prompt.ts'
export type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
export { parseOutput } from '../prompt/definition/output.ts'
export { createCachedCounter, estimatedTokens, type TokenCount, type TokenCounter } from '../core/tokens/tokens.ts'

// Tools
export { defineTool, type AnyTool, type Tool, type ToolContext, type ToolOptions } from '../tools/tool.ts'
export { fail, ok, type ToolFailure, type ToolImage, type ToolResult, type ToolSuccess } from '../tools/result.ts'
export { executeTool } from '../tools/execute.ts'
export type { Filesystem } from '../files/filesystem.ts'

// Strategies
export { bySearch } from '../disclosure/ahead/by-search.ts'
export { contextFiles } from '../disclosure/strategies/context-files.ts'
export { openOrRead } from '../disclosure/strategies/open-or-read.ts'
export { openSections } from '../disclosure/strategies/open-sections.ts'
export { readSection } from '../disclosure/strategies/read-section.ts'
export type { DisclosureStrategy } from '../disclosure/strategy.ts'

// Sessions
export { createSession } from '../session/session.ts'
export type { Session } from '../session/contract.ts'
export { defineSlice } from '../session/slice.ts'
export { openSession } from '../session/stores/open-session.ts'
export { createMemoryStore } from '../session/stores/memory-store.ts'
export type { Visibility } from '../session/visibility.ts'

// Agents
export { evaluatePrompt, runAgent, streamAgent, type AgentStream } from '../agent/loop/run-agent.ts'
export { agentRun, type RunState } from '../agent/state/run-state.ts'
export type { AgentOptions, AgentResult, AgentTurn } from '../agent/options.ts'
export type { RefoldOptions } from '../agent/refold/options.ts'
export type { ApprovalAnswer, ApprovalRequest } from '../agent/state/approvals.ts'
export type { AgentEvent } from '../agent/events.ts'
export type { AgentInput, InputPart } from '../agent/input.ts'
export type { RunLimits } from '../agent/limits.ts'
export type { OpeningPolicy } from '../agent/policy.ts'
export type { Message, ProviderAdapter, ToolCall, Usage } from '../adapters/contract.ts'

// Errors
export { FoldoutError, PromptRenderError, PromptValidationError, type ErrorCode } from '../core/errors.ts'
export { AdapterError } from '../adapters/adapter-error.ts'
export { LimitReachedError, RunAbortedError, VisibilityExpansionRequired, getRunState } from '../agent/errors.ts'
export { OutputParseError } from '../prompt/definition/output.ts'
