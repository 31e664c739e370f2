import type { AnyTool } from '../../tools/tool.ts'

/** The examples of a section's tools as the model reads them below the section's body; empty if there are none. */
export function examplesText(tools: readonly AnyTool[]): string {
  return tools
    .filter((tool) => tool.examples.length > 0)
    .map((tool) => {
      const lines = tool.examples.map(
        ({ description, input, output }) =>
          `- ${description}\n  Input: ${JSON.stringify(input)}\n  Output: ${output.replaceAll('\n', '\n  ')}`,
      )
      return `Examples of \`${tool.name}\`:\n${lines.join('\n')}`
    })
    .join('\n\n')
}
