/**
 * Filesystems that tools work on, the file tools, and the section that offers them.
 *
 * @module foldout/files
 */

export { fileTools, type FileToolsOptions } from '../files/file-tools.ts'
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
