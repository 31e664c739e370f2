// Names that `@example` blocks use and do not declare. `examples-<entry>.ts` has those of one entry, and takes precedence.
export { readFile, writeFile } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import {
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  ok,
  type DisclosureStrategy,
  type AnyTool,
  type Session,
  type ToolContext,
} from 'foldout'
import type { ProviderAdapter } from 'foldout/adapter'
import type { Catalog, RawTool } from 'foldout/catalog'
import type { DisclosureView } from 'foldout/disclosure'
import type { McpClient, ServedMcp } from 'foldout/mcp'
import type { SessionStore } from 'foldout/session'
import type { Recorder, Recording } from 'foldout/telemetry'
import * as zod from 'zod'

export const z = zod
export const role = defineSection({ key: 'role', title: 'Role', template: 'You help customers.' })
export const refund = defineTool({ name: 'refund_order', description: 'Refunds an order.', execute: () => ok('Done.') })
export const refunds = defineSection({ key: 'refunds', title: 'Refunds', template: 'Refund within 30 days.' })
export const manual = defineSection({ key: 'manual', title: 'Manual', template: 'Press the button.' })
export const sections = [role]
export const prompt = definePrompt({ ns: 'support', key: 'agent', sections: [role] })
export const values = {}
export const bound = prompt.bind(values)
export const cart = defineSlice({
  name: 'cart',
  initial: { items: [] as readonly string[] },
  reducers: { added: (state, item: string) => ({ items: [...state.items, item] }) },
})
export const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  params: z.object({ to: z.string() }),
  execute: ({ to }) => ok(`Sent to ${to}.`),
})
export const setLight = defineTool({ name: 'set_light', description: 'Switches a light.', execute: () => ok('On.') })

export declare const adapter: ProviderAdapter
export declare const session: Session
export declare const store: SessionStore
export declare const strategy: DisclosureStrategy
export declare const context: ToolContext
export declare const error: unknown
export declare const catalog: Catalog
export declare const tools: readonly RawTool[]
export declare const client: McpClient
export declare const served: ServedMcp
export declare const socket: Duplex
export declare const recorder: Recorder
export declare const recording: Recording
export declare const recordings: readonly Recording[]
export declare const path: string
export declare const url: string
export declare const rows: string[]
export declare function tokenize(text: string): readonly number[]
export declare function createUnfoldTool(view: DisclosureView): AnyTool
export declare function findUser(token: string | null): Promise<{ readonly id: string } | undefined>
export declare function retryLater(delayMs: number): void
