import { fileTools, type FileToolsOptions } from '../tools/files/file-tools.ts'
import { defineSection, type Section } from '../prompt/definition/section.ts'

/**
 * Options of {@link filesSection}.
 *
 * @example
 * ```ts
 * const options: FilesSectionOptions<'workspace'> = { key: 'workspace', title: 'Workspace', readOnly: true }
 * filesSection(options).key // => 'workspace'
 * ```
 */
export interface FilesSectionOptions<Key extends string> extends FileToolsOptions {
  /** The key of the section. Default `files`. */
  readonly key?: Key
  /** The title of the section. Default `Files`. */
  readonly title?: string
}

/**
 * Creates a section that lets the model use the files of the run: instructions, and the file tools.
 *
 * @example
 * ```ts
 * const prompt = definePrompt({ ns: 'agents', key: 'coder', sections: [role, filesSection({ readOnly: true })] })
 * ```
 */
export function filesSection<const Key extends string = 'files'>(
  options: FilesSectionOptions<Key> = {},
): Section<{}, Key> {
  const { key = 'files' as Key, title = 'Files', readOnly = false } = options
  return defineSection({
    key,
    title,
    template: readOnly ? READING : `${READING}\n${CHANGING}`,
    tools: fileTools({ readOnly }),
  })
}

const READING: string = `
You have text files. Their paths are relative to the root, with \`/\` between the parts, as in \`src/index.ts\`.

- Find them with \`list_files\` (one folder), \`glob\` (by path) and \`grep\` (by content).
- Read them with \`read_file\`; from a long file, read only the lines you need.`.trim()

const CHANGING: string = `
- Read a file before you change it. Change parts with \`edit_file\`; use \`write_file\` for new files and for whole rewrites.
- \`remove_file\` removes a file, or a folder with everything in it.`.trim()
