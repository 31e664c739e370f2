export { FoldoutError, PromptRenderError, PromptValidationError, type PromptErrorDetails } from '../core/errors.ts'
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

export { defineEvent, type Event, type EventCreator } from '../session/event.ts'
export { Log, defineLog, type LogOptions } from '../session/log.ts'
export { createMemoryStore } from '../session/stores/memory-store.ts'
export {
  DispatchError,
  createSession,
  type DispatchFailure,
  type Listener,
  type Scope,
  type Session,
  type SessionOptions,
  type SessionReader,
  type SessionTransaction,
} from '../session/session.ts'
export {
  defineSlice,
  type AnySlice,
  type On,
  type Slice,
  type SliceEvents,
  type SliceOptions,
} from '../session/slice.ts'
export type { Snapshot } from '../session/snapshot.ts'
export {
  openSession,
  type KeptSession,
  type SessionStore,
  type StoredEvent,
  type StoredSession,
  type StoredSessionOptions,
} from '../session/stores/store.ts'
export { visibility, type Visibility, type VisibilityOverrides } from '../session/visibility.ts'

export { executeTool, type ExecuteOptions } from '../tools/execute.ts'
export { fileTools, type FileToolsOptions } from '../files/file-tools.ts'
export {
  FilesystemError,
  type FileEntry,
  type Filesystem,
  type FilesystemErrorDetails,
  type FilesystemErrorReason,
  type FilesystemTransaction,
} from '../files/filesystem.ts'
export { createMemoryFilesystem } from '../files/memory-filesystem.ts'
export {
  fail,
  ok,
  type Opening,
  type ToolFailure,
  type ToolImage,
  type ToolResult,
  type ToolSuccess,
} from '../tools/result.ts'
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
export type { DisclosureStrategy, DisclosureView, FoldedSection, StrategyOptions } from '../disclosure/strategy.ts'

export type { BudgetTrace, TokenBudget } from '../prompt/budget.ts'
export type { PromptDescriptor, SectionDescriptor, ToolDescriptor } from '../prompt/overrides/descriptor.ts'
export { ignoredOverrides, sourceOverrides } from '../prompt/overrides/editing.ts'
export { filesSection, type FilesSectionOptions } from '../sections/files-section.ts'
export type { RenderedNode } from '../prompt/render/node.ts'
export {
  OutputParseError,
  parseOutput,
  type OutputParseErrorKind,
  type OutputSpec,
  type OutputValue,
} from '../prompt/output.ts'
export type { IgnoredOverride, PromptOverrides, SectionOverride, ToolOverride } from '../prompt/overrides/overrides.ts'
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
export type { IgnoredVisibility, RenderedPrompt, TraceEntry } from '../prompt/render/rendered.ts'
export {
  defineSection,
  type AnySection,
  type AnyValues,
  type FoldedTools,
  type RenderedBody,
  type Section,
  type SectionOptions,
  type Selector,
  type SelectorContext,
} from '../prompt/section.ts'

export { chatAdapter, type ChatModel, type ChatReply, type ChatRequest } from '../adapters/chat.ts'
export {
  NO_USAGE,
  addUsage,
  type AssistantMessage,
  type Evaluation,
  type EvaluationResult,
  type Message,
  type ModelEvent,
  type ProviderAdapter,
  type ToolCall,
  type ToolMessage,
  type ToolsMessage,
  type TurnOutcome,
  type Usage,
  type UserMessage,
} from '../adapters/contract.ts'

export { LimitReachedError, RunAbortedError, VisibilityExpansionRequired, type LimitKind } from '../agent/errors.ts'
export {
  promptRendered,
  runRestarted,
  toolInvoked,
  toolsInjected,
  type AgentEvent,
  type PromptRendered,
  type RunRestarted,
  type ToolInvoked,
  type ToolsInjected,
} from '../agent/events.ts'
export type { TokenLimits } from '../agent/limits.ts'
export type { AgentOptions, AgentResult, Turn } from '../agent/options.ts'
export type { Expansion, OpeningPolicy } from '../agent/policy.ts'
export { evaluate, runAgent, type AgentStream } from '../agent/run-agent.ts'
export { agentRun, type RunState } from '../agent/loop/run-state.ts'

export {
  createCatalog,
  type Approval,
  type Catalog,
  type CatalogOptions,
  type CatalogSource,
  type UnknownTool,
} from '../catalog/catalog.ts'
export type { CatalogEvent } from '../catalog/events.ts'
export type { EntryCall, Exposed, Exposure, ExposureClient, ListedTool } from '../catalog/exposures/exposure.ts'
export { all } from '../catalog/exposures/all.ts'
export { auto, type AutoOptions } from '../catalog/exposures/auto.ts'
export type { CoreOptions } from '../catalog/exposures/exposed.ts'
export { hybrid } from '../catalog/exposures/hybrid.ts'
export {
  learnCore,
  type LearnCoreOptions,
  type CoreSaving,
  type LearnedCore,
  type LearnedTool,
} from '../catalog/use/learn-core.ts'
export {
  readCatalogRecording,
  createCatalogRecorder,
  type CatalogRecorder,
  type CatalogRecording,
  type RecordCatalogOptions,
  type RecordedClient,
  type RecordedSearch,
  type RecordedUse,
} from '../catalog/use/recording.ts'
export { metaTool } from '../catalog/exposures/meta-tool.ts'
export { twoPhase } from '../catalog/exposures/two-phase.ts'
export type {
  Embed,
  Explanation,
  Hit,
  SearchField,
  Searchable,
  SearchIndexOptions,
  SearchOptions,
  SearchOutcome,
} from '../catalog/search/contract.ts'
export { formatSignature } from '../catalog/signatures/signature.ts'
export type {
  BrokenTool,
  CallContext,
  CallResult,
  CatalogEntry,
  CatalogInput,
  Content,
  Progress,
  RawTool,
  ToolAnnotations,
  ToolMetadata,
} from '../catalog/tool.ts'
export { catalogSection, type CatalogSectionOptions } from '../sections/catalog-section.ts'

export { advise, type Advice, type AdviseOptions } from '../telemetry/advise.ts'
export { createCounters, type Counters } from '../telemetry/counters.ts'
export { recordedSteps } from '../telemetry/recorded-steps.ts'
export { createRecorder, type Recorder, type RecorderOptions } from '../telemetry/recorder.ts'
export {
  readRecording,
  type RecordedOpening,
  type RecordedRender,
  type RecordedRequest,
  type RecordedRestart,
  type RecordedRun,
  type RecordedToolCall,
  type Recording,
} from '../telemetry/recording.ts'
export type { OpeningAnswer } from '../telemetry/openings.ts'
export type { Saving } from '../telemetry/replay.ts'
export type { RunListener } from '../telemetry/runs.ts'
export type { SectionCost, ToolCost } from '../telemetry/section-costs.ts'
export type { CacheOptions, Charge } from '../telemetry/simulate/cache.ts'
export {
  simulate,
  type SimulatedAdapter,
  type SimulatedCall,
  type SimulatedRequest,
  type SimulatedRun,
  type Simulation,
  type SimulationOptions,
  type SimulationStep,
} from '../telemetry/simulate/simulate.ts'
