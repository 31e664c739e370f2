/**
 * Catalogs of tools: how they are filled, listed, searched and called.
 *
 * @module foldout/catalog
 */

export { createCatalog } from '../catalog/live/catalog.ts'
export type { Approval, ApprovalOptions } from '../catalog/approval.ts'
export type { Catalog, CatalogOptions, CatalogSource } from '../catalog/contract.ts'
export { listModelNames } from '../catalog/names.ts'
export { isUnknown, type UnknownTool } from '../catalog/unknown-tool.ts'
export { getMissingTool, hasFoundNothing, type MissingTool } from '../catalog/found-nothing.ts'
export type { CatalogEvent } from '../catalog/events.ts'
export {
  createExposureMemory,
  type ExposedCatalog,
  type Exposure,
  type ExposureClient,
  type ExposureMemory,
  type ListedTool,
} from '../catalog/exposure.ts'
export { all } from '../catalog/exposures/all.ts'
export { auto, type AutoOptions } from '../catalog/exposures/auto.ts'
export type { CoreOptions, SearchExposureOptions } from '../catalog/exposures/core.ts'
export {
  changeExposed,
  createExposedCatalog,
  type ExposedControl,
  type ExposedParts,
} from '../catalog/exposures/exposed-catalog.ts'
export { getListing } from '../catalog/listing.ts'
export type { GivenArguments, MetaScope, MetaTool } from '../catalog/meta-tools/meta-tool.ts'
export { getTarget, runTool, type InnerCall, type ToolRun } from '../catalog/meta-tools/run-tool.ts'
export { hybrid } from '../catalog/exposures/hybrid.ts'
export {
  learnCore,
  type LearnCoreOptions,
  type CoreEvidence,
  type CoreSaving,
  type LearnedCore,
  type LearnedTool,
} from '../catalog/use/learn-core.ts'
export { checkCore, type CheckedCore } from '../catalog/use/check-core.ts'
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
export type { LearnedOutput } from '../catalog/learned-output.ts'
export { learnOutputs, type LearnOutputsOptions, type RunWithResults } from '../catalog/use/learn-outputs.ts'
export { metaTool } from '../catalog/exposures/meta-tool.ts'
export { native } from '../catalog/exposures/native.ts'
export { twoPhase } from '../catalog/exposures/two-phase.ts'
export type { Embed, EmbedCall, EmbeddedText, Encoder, VectorCache } from '../catalog/search/encoder.ts'
export type {
  Explanation,
  Hit as SearchHit,
  MeaningKind,
  SearchField,
  SearchFit,
  Searchable,
  SearchIndexOptions,
  SearchOptions,
  SearchOutcome,
  SearchReadiness,
} from '../catalog/search/contract.ts'
export { formatSignature } from '../catalog/signatures/signature.ts'
export type {
  BrokenTool,
  CallClient,
  CallContext,
  CallInput,
  CallPeer,
  CallResult,
  CatalogEntry,
  CatalogInput,
  ToolContent,
  ToolProgress,
  RawTool,
  ToolAnnotations,
  ToolExecution,
  ToolMetadata,
  EntryCall,
} from '../catalog/tool.ts'
export { catalogSection, type CatalogSectionOptions } from '../sections/catalog-section.ts'
