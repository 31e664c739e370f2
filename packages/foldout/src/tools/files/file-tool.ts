import { fromJsonSchema, type JsonSchema } from '../../core/schema/schema.ts'
import { FilesystemError, type Filesystem } from '../../files/filesystem.ts'
import { fail, type ToolResult } from '../result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tool.ts'

interface FileToolOptions<Input> {
  readonly name: string
  readonly description: string
  readonly properties: { readonly [Field in keyof Input]-?: JsonSchema }
  readonly required: readonly (keyof Input & string)[]
  run(input: Input, files: Filesystem, context: ToolContext): Promise<ToolResult>
}

/** Defines a tool for the files of the call's context. Missing files and unusable paths become failures for the model. */
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

/** Lists show folders with a trailing `/`, and models repeat it, so it is accepted where a folder is allowed. */
export function withoutLastSlash(path: string): string {
  if (path.length > 1 && path.endsWith('/')) return path.slice(0, -1)
  return path
}

/** Splits a text into lines. A line break at the end does not start another line. */
export function getLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
