import { UsageError } from '../../gateway/config/config.ts'
import { isNear } from '../../shared/near.ts'
import type { ClientDescription } from '../client.ts'
import { EDITORS } from './editors.ts'
import { TERMINALS } from './terminals.ts'

const COMMON = { path: ['mcpServers'], shape: {} } as const

/** Desktop apps that are not editors. */
const DESKTOPS: readonly ClientDescription[] = [
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    user: ['{app}/Claude/claude_desktop_config.json'],
    maps: [COMMON],
    note: 'Restart Claude Desktop to load the change.',
  },
  {
    name: 'lm-studio',
    title: 'LM Studio',
    format: 'json',
    user: ['~/.lmstudio/mcp.json'],
    others: { user: ['~/.cache/lm-studio/mcp.json'] },
    maps: [COMMON],
    link: 'lmstudio://add_mcp?name={name}&config={base64}',
  },
]

/** All clients that servers can be imported from and the gateway can be installed in. */
export const CLIENTS: readonly ClientDescription[] = [...DESKTOPS, ...TERMINALS, ...EDITORS].sort((a, b) =>
  a.name < b.name ? -1 : 1,
)

/**
 * Finds a client by name, ignoring spaces and hyphens.
 *
 * @throws UsageError if there is no such client.
 */
export function getClient(name: string): ClientDescription {
  const toKey = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const wanted = toKey(name)
  const found =
    CLIENTS.find((client) => toKey(client.name) === wanted || toKey(client.title) === wanted) ??
    CLIENTS.find((client) => client.name === ALIASES.get(wanted))
  if (found) return found
  const names = CLIENTS.map((client) => client.name)
  const near = [...names, ...ALIASES.keys()].find((known) => isNear(wanted, toKey(known)))
  const meant = near === undefined ? '' : ` Did you mean ${ALIASES.get(near) ?? near}?`
  throw new UsageError(`There is no client '${name}'.${meant} Choose from: ${names.join(', ')}.`)
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['claude', 'claude-code'],
  ['code', 'vscode'],
  ['visualstudiocode', 'vscode'],
  ['gemini', 'gemini-cli'],
  ['copilot', 'copilot-cli'],
  ['githubcopilotcli', 'copilot-cli'],
  ['roo', 'roo-code'],
  ['kilo', 'kilo-code'],
  ['grok', 'grok-build'],
  ['kimi', 'kimi-code'],
  ['mastra', 'mastra-code'],
  ['junie', 'jetbrains'],
])
