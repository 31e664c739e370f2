export { hostFilesystem } from './host-filesystem.ts'
export type { SectionEdit, ToolEdit } from './override-edit.ts'
export {
  overrideStore,
  type OverrideDeletion,
  type OverrideEdits,
  type OverrideStore,
  type OverrideStoreOptions,
  type OverrideTag,
  type ResolvedOverrides,
  type SeededOverrides,
} from './override-store.ts'
export { readRecordings, recordToFile, type FileRecorder } from './record-file.ts'
