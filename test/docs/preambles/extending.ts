import { NO_USAGE, type ChatRequest, type ToolCall, type Usage } from 'foldout/adapter'
import type { ExposureClient, RawTool } from 'foldout/catalog'

export { bound } from './README.ts'
export { cart } from './sessions.ts'

/** A provider that says hello. */
export const askAcme = async (
  _body: Pick<ChatRequest, 'system' | 'messages'> & { readonly tools: readonly object[] },
  _signal: AbortSignal,
): Promise<{ readonly text: string; readonly calls: readonly ToolCall[]; readonly usage: Usage } | undefined> => ({
  text: 'Hello from Acme.',
  calls: [],
  usage: NO_USAGE,
})

export const tools: readonly RawTool[] = [
  {
    name: 'send_mail',
    description: 'Send a mail.',
    inputSchema: { type: 'object' },
    call: async () => ({ content: [{ type: 'text', text: 'Sent.' }] }),
  },
]
export const client: ExposureClient = { id: 'chat-1', takesListChanges: true }
