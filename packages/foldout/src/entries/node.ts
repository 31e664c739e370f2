export { createVectorFile } from '../catalog/search/vectors/vector-file.ts'
export { createHostFilesystem } from '../files/host-filesystem.ts'
export type { SectionEdit, ToolEdit } from '../prompt/overrides/edit.ts'
export {
  createOverrideStore,
  type OverrideDeletion,
  type OverrideEdits,
  type OverrideStore,
  type OverrideStoreOptions,
  type OverrideTag,
  type ResolvedOverrides,
  type SeededOverrides,
} from '../prompt/overrides/store.ts'
export { readRecordingFile, createFileRecorder, type FileRecorder } from '../telemetry/record-file.ts'
