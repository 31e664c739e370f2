/**
 * Everything that needs Node.js: host folders, override files, recordings and vectors in files.
 *
 * @module foldout/node
 */

export { createVectorFile } from '../catalog/search/vectors/vector-file.ts'
export { retryIfInUse } from 'foldout-shared/in-use'
export { createHostFilesystem } from '../files/host-filesystem.ts'
export { createSkillTrust, findSkillFolders } from '../sections/skills/host-skills.ts'
export { withLock, type HeldLock } from '../prompt/override-store/lock.ts'
export type { SectionEdit, ToolEdit } from '../prompt/override-store/edit.ts'
export {
  createOverrideStore,
  type OverrideDeletion,
  type OverrideEdits,
  type OverrideStore,
  type OverrideStoreOptions,
  type OverrideTag,
  type ResolvedOverrides,
  type SeededOverrides,
} from '../prompt/override-store/store.ts'
export { recordRun, type RecordRunOptions, type RunLine, type RunRecorder } from '../telemetry/record-run.ts'
export { readRecordingFile, createFileRecorder, type FileRecorder } from '../telemetry/record-file.ts'
