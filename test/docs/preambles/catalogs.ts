import { defineTool, ok } from 'foldout'
import type { CallResult } from 'foldout/catalog'
import type { McpClient } from 'foldout/mcp'
import * as z from 'zod'

export const tools = [
  defineTool({
    name: 'set_temperature',
    description: 'Set the target temperature of the heating in a room.',
    params: z.object({ room: z.string(), celsius: z.number() }),
    execute: ({ room, celsius }) => ok(`${room} is set to ${celsius} °C.`),
  }),
  defineTool({
    name: 'set_light',
    description: 'Switch a light on or off.',
    params: z.object({ light: z.string(), on: z.boolean() }),
    execute: ({ light, on }) => ok(`${light} is ${on ? 'on' : 'off'}.`),
  }),
]
export const myModel = {
  embed: async (texts: readonly string[], { isQuery }: { readonly isQuery: boolean }) =>
    texts.map((text) => [text.length, Number(isQuery)]),
}
export const inputSchema = { type: 'object', properties: { host: { type: 'string' } }, required: ['host'] }
export const ping = async (host: string): Promise<CallResult> => ({
  content: [{ type: 'text', text: `${host} answers.` }],
})
export declare const client: McpClient
export const askTheUser = async (name: string, args: unknown): Promise<boolean> => name !== '' && args !== undefined
