import { fromJsonSchema } from '../core/schema/schema.ts'
import { fail } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'

export const ASK_SECTION = 'ask_section'

/** The same tool in all renders. Its calls are answered by those who run the loop. */
export const askSectionTool = defineTool({
  name: ASK_SECTION,
  description:
    'Ask a question about a summarized section, or give it a task. An agent of its own reads the section, uses its tools and answers. It knows nothing but what you write.',
  params: fromJsonSchema<{ readonly path: string; readonly question: string }>({
    type: 'object',
    properties: {
      path: { type: 'string', description: "Path of the section, as its summary shows it (e.g., 'parent.child')." },
      question: {
        type: 'string',
        description: 'The question or the task, with every name, number and detail that is needed for it.',
      },
    },
    required: ['path', 'question'],
    additionalProperties: false,
  }),
  execute: () => fail('No agent can answer questions here.'),
})
