import type { ExposedCatalog } from './exposure.ts'
import type { CallContext, CallResult, RawTool } from './tool.ts'

/** A tool that answers with its name and arguments, unless `more` says otherwise. */
export function tool(name: string, more: Partial<RawTool> = {}): RawTool {
  return {
    name,
    description: `Does ${name.replaceAll('_', ' ')}.`,
    call: async (args) => said(`${name} ${JSON.stringify(args)}`),
    ...more,
  }
}

export function said(text: string): CallResult {
  return { content: [{ type: 'text', text }] }
}

export function failed(text: string): CallResult {
  return { ...said(text), isError: true }
}

/** Returns the text of an answer that contains only text. */
export function getText({ content }: CallResult): string {
  return content.map((part) => (part.type === 'text' ? String(part['text']) : `[${part.type}]`)).join('\n')
}

export async function callText(
  exposed: Pick<ExposedCatalog, 'call'>,
  name: string,
  args?: unknown,
  context: CallContext = {},
): Promise<string> {
  return getText(await exposed.call(name, args, context))
}

/** Creates distinct tools to fill catalogs with. */
export function manyTools(count: number, more: Partial<RawTool> = {}): RawTool[] {
  return Array.from({ length: count }, (_, at) =>
    tool(`do_${WORDS[at % WORDS.length]!}_${Math.floor(at / WORDS.length)}`, more),
  )
}

const WORDS = ['invoice', 'garden', 'engine', 'violin', 'harbour', 'pepper', 'lantern', 'glacier', 'saddle', 'copper']
