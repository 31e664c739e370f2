import type { CatalogEntry, Explanation, ExposureClient } from 'foldout/catalog'
import type { OpenAI } from 'openai'
import { catalog, client as mcpClient } from './examples.ts'
import type { McpClient } from 'foldout/mcp'

export declare const openai: OpenAI
/** One client for both kinds: that of an exposure, and that of an MCP server. */
export const client: ExposureClient & McpClient = Object.assign(mcpClient, { id: 'chat-1', takesListChanges: true })
const explained = await catalog.explain('send mail', 'send_mail')
if (explained === undefined) throw new Error('There is no explanation.')
export const explanation: Explanation = explained
const entry = catalog.resolve('send_mail')
if ('unknown' in entry) throw new Error('The catalog lacks the tool.')
export const sendMailEntry: CatalogEntry = entry
