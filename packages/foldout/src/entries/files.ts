/**
 * Filesystems that tools work on, the file tools, the section that offers them, and regular expressions that run in
 * linear time.
 *
 * @module foldout/files
 */

export {
  compilePattern,
  type CompiledPatternResult,
  type LinearPattern,
  type PatternOptions,
  type Steps as PatternSteps,
} from '../core/pattern/pattern.ts'
export { fileTools, type FileToolsOptions } from '../tools/files/file-tools.ts'
export {
  FilesystemError,
  type FileEntry,
  type Filesystem,
  type FilesystemErrorDetails,
  type FilesystemErrorReason,
  type FilesystemTransaction,
  type LineExcerpt,
  type LineRange,
} from '../files/filesystem.ts'
export { createMemoryFilesystem } from '../files/memory-filesystem.ts'
export { filesSection, type FilesSectionOptions } from '../sections/files-section.ts'
