import { ignore } from '../../core/promises.ts'
import { PromptRenderError } from '../../core/errors.ts'
import type { Filesystem } from '../../files/filesystem.ts'
import { fail, ok, type ToolFailure, type ToolResult } from '../../tools/result.ts'
import { describeError } from '../../tools/thrown.ts'
import type { OpeningPlan } from '../engine.ts'
import type { DisclosureStrategy, DisclosureView, FoldedSection, StrategyOptions } from '../strategy.ts'
import { OPEN_SECTIONS, answerByRestart, describeCall, getOpenCall, openSectionsTool } from '../tools.ts'

/**
 * The options of {@link contextFiles}.
 *
 * @example
 * ```ts
 * const options: ContextFilesOptions = { folder: 'context', readTool: 'read_file' }
 * const strategy = contextFiles(options)
 * ```
 */
export interface ContextFilesOptions extends StrategyOptions {
  /** The folder that the files are written to. Default `context`. */
  readonly folder?: string
  /**
   * The tool with which the model reads the files. Default `read_file`, one of the file tools of `foldout/files`. Pass
   * `false` if the model reads files by other means, such as tools of its host.
   */
  readonly readTool?: string | false
}

/**
 * A strategy with one tool, `open_sections`. Sections without tools are written to files for the model to read; they
 * stay folded, and the conversation continues. If any requested section has tools, the run restarts with all of them
 * open.
 *
 * @example
 * ```ts
 * const prompt = definePrompt({ ns: 'docs', key: 'writer', sections: [manual, filesSection()], disclosure: contextFiles() })
 * ```
 */
export function contextFiles(options: ContextFilesOptions = {}): DisclosureStrategy {
  const { folder = 'context', showCost = false, readTool = 'read_file' } = options
  const getFile = (path: string): string => `${folder}/${path}.md`
  return Object.freeze<DisclosureStrategy>({
    name: 'contextFiles',
    toolNames: [OPEN_SECTIONS],
    showCost,
    suffix: (section) => suffix(section, getFile(section.path)),
    check(view) {
      if (readTool !== false) refuseUnreadable(view, readTool)
    },
    tools: (offered) => [
      openSectionsTool(offered, (plan, view, context) =>
        plan.hasTools ? answerByRestart(view, plan) : writeFiles(view, plan, getFile, context.filesystem),
      ),
    ],
    getCalls: (_view, keys) => [getOpenCall(keys)],
    describeCall,
  })
}

/** Throws at render time rather than writing a file that the model cannot read. */
function refuseUnreadable(view: DisclosureView, readTool: string): void {
  const written = view.folded.find((section) => !section.hasTools)
  if (!written || view.findTool(readTool)) return
  throw new PromptRenderError(
    `contextFiles() writes section '${written.path}' to a file, but the prompt has no tool '${readTool}' to read it with. Add filesSection() from foldout/files to the prompt, name your own tool with contextFiles({ readTool }), or pass readTool: false if the model reads files by other means.`,
    { path: written.path },
  )
}

function suffix({ path, childKeys, hasTools }: FoldedSection, file: string): string {
  const children = childKeys.join(', ')
  if (hasTools) {
    if (childKeys.length === 0)
      return `[This section is summarized. To view full content and access additional tools, call \`open_sections\` with key "${path}".]`
    return `[This section is summarized. Call \`open_sections\` with key "${path}" to view full content including subsections: ${children}. Additional tools may become available.]`
  }
  if (childKeys.length === 0)
    return `[This section is summarized. To view full content, call \`open_sections\` with key "${path}". The content will be written to ${file} for you to read.]`
  return `[This section is summarized. Call \`open_sections\` with key "${path}" to write content (including subsections: ${children}) to ${file}.]`
}

type DescribeFailure = (key: string, error: unknown) => ToolFailure
interface ContextFile {
  readonly key: string
  readonly path: string
  readonly text: string
}

async function writeFiles(
  view: DisclosureView,
  plan: OpeningPlan,
  getFile: (path: string) => string,
  filesystem: Filesystem | undefined,
): Promise<ToolResult> {
  if (!filesystem) return fail('Cannot write context files: no filesystem available.')
  const describeFailure: DescribeFailure = (key, error) =>
    fail(`Failed to write context for '${key}': ${describeError(error)}`)
  const files: ContextFile[] = []
  // Everything is rendered before anything is written.
  for (const [key, paths] of plan.pathsByKey) {
    try {
      files.push({ key, path: getFile(key), text: view.opened(paths).content(paths[0] ?? key) })
    } catch (error) {
      return describeFailure(key, error)
    }
  }
  const fault = await writeAll(files, filesystem, describeFailure)
  if (fault) return fault
  const written = files.map(({ path }) => path)
  return ok(`Section content written to: ${written.join(', ')}`, { writtenFiles: written })
}

/** Writes all files or none, so the model never finds an incomplete set. */
async function writeAll(
  files: readonly ContextFile[],
  filesystem: Filesystem,
  describeFailure: DescribeFailure,
): Promise<ToolFailure | undefined> {
  const undo: (() => Promise<void>)[] = []
  for (const { key, path, text } of files) {
    try {
      const before = (await filesystem.stat(path)) ? await filesystem.read(path) : undefined
      await filesystem.write(path, text)
      undo.push(() => (before === undefined ? filesystem.remove(path) : filesystem.write(path, before)))
    } catch (error) {
      for (const restore of undo.toReversed()) await ignore(restore(), 'the first failure is the one to tell')
      return describeFailure(key, error)
    }
  }
  return undefined
}
