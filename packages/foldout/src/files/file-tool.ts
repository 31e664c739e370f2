import { fromJsonSchema, type JsonSchema } from '../core/schema/schema.ts'
import { FilesystemError, type Filesystem } from './filesystem.ts'
import { fail, type ToolResult } from '../tools/result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tools/tool.ts'

interface FileToolOptions<Input> {
  readonly name: string
  readonly description: string
  readonly properties: { readonly [Field in keyof Input]-?: JsonSchema }
  readonly required: readonly (keyof Input & string)[]
  run(input: Input, files: Filesystem, context: ToolContext): Promise<ToolResult>
}

/** A tool over the files of the call's context: without any, and where a path cannot be used, the model is told so. */
export function defineFileTool<Input>(options: FileToolOptions<Input>): AnyTool {
  const { name, description, properties, required } = options
  return defineTool({
    name,
    description,
    params: fromJsonSchema<Input>({ type: 'object', properties, required, additionalProperties: false }),
    async execute(input, context) {
      if (!context.filesystem) return fail('No filesystem is available.')
      try {
        return await options.run(input, context.filesystem, context)
      } catch (error) {
        if (error instanceof FilesystemError) return fail(error.message)
        throw error
      }
    },
  })
}

/** Lists name folders with a `/` behind them, and models give that back: it does no harm where a folder may stand. */
export function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** The beginning of a text, never half of a character that takes two units. */
export function beginning(text: string, most: number): string {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(most - 1))
  return text.slice(0, isHalf ? most - 1 : most)
}

/** The lines of a text. A line break at its end begins no further one. */
export function getLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** `1 line`, `2 lines`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
