export { hostFilesystem } from '../files/host-filesystem.ts'
export type { SectionEdit, ToolEdit } from '../prompt/overrides/edit.ts'
export {
  overrideStore,
  type OverrideDeletion,
  type OverrideEdits,
  type OverrideStore,
  type OverrideStoreOptions,
  type OverrideTag,
  type ResolvedOverrides,
  type SeededOverrides,
} from '../prompt/overrides/store.ts'
export { readRecordings, recordToFile, type FileRecorder } from '../telemetry/record-file.ts'
