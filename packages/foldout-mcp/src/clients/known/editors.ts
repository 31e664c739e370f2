import type { ClientDescription } from '../client.ts'

const COMMON = { path: ['mcpServers'], shape: {} } as const

/** Editors, and assistants that run inside one. */
export const EDITORS: readonly ClientDescription[] = [
  {
    name: 'cursor',
    title: 'Cursor',
    format: 'json',
    user: ['~/.cursor/mcp.json'],
    project: ['.cursor/mcp.json'],
    maps: [COMMON],
    link: 'cursor://anysphere.cursor-deeplink/mcp/install?name={name}&config={base64}',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    format: 'json',
    user: ['{app}/Code/User/mcp.json'],
    project: ['.vscode/mcp.json'],
    others: { user: ['{app}/Code/User/profiles/*/mcp.json'] },
    maps: [{ path: ['servers'], shape: { fixed: { type: 'stdio' } } }],
    own: { program: 'code', scopes: ['user'], add: ['--add-mcp', '{named}'] },
    link: 'vscode:mcp/install?{named}',
  },
  {
    name: 'windsurf',
    title: 'Windsurf',
    format: 'json',
    user: ['~/.codeium/windsurf/mcp_config.json'],
    maps: [COMMON],
  },
  {
    name: 'antigravity',
    title: 'Antigravity',
    format: 'json',
    user: ['~/.gemini/config/mcp_config.json'],
    maps: [COMMON],
  },
  {
    name: 'zed',
    title: 'Zed',
    format: 'json',
    user: {
      linux: ['{app}/zed/settings.json'],
      darwin: ['~/.config/zed/settings.json', '{app}/Zed/settings.json'],
      win32: ['{app}/Zed/settings.json'],
    },
    project: ['.zed/settings.json'],
    maps: [{ path: ['context_servers'], shape: { fixed: { source: 'custom' } } }],
  },
  {
    name: 'kiro',
    title: 'Kiro',
    format: 'json',
    user: ['~/.kiro/settings/mcp.json'],
    project: ['.kiro/settings/mcp.json'],
    maps: [COMMON],
  },
  {
    name: 'cline',
    title: 'Cline',
    format: 'json',
    user: [
      '{app}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      '{CLINE_DIR|~/.cline}/data/settings/cline_mcp_settings.json',
    ],
    maps: [{ path: ['mcpServers'], shape: { fixed: { disabled: false } } }],
  },
  {
    name: 'roo-code',
    title: 'Roo Code',
    format: 'json',
    user: ['{app}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'],
    project: ['.roo/mcp.json'],
    maps: [COMMON],
  },
  {
    name: 'continue',
    title: 'Continue',
    format: 'yaml',
    user: ['~/.continue/config.yaml'],
    project: ['.continue/mcpServers/foldout.yaml'],
    others: { project: ['.continue/mcpServers/*.yaml', '.continue/mcpServers/*.json'] },
    initial: 'name: Foldout\nversion: 1.0.0\nschema: v1\n',
    maps: [{ path: ['mcpServers'], shape: { hasName: true, fixed: { type: 'stdio' } }, isList: true }],
  },
  {
    name: 'jetbrains',
    title: 'JetBrains Junie',
    format: 'json',
    user: ['~/.junie/mcp/mcp.json'],
    project: ['.junie/mcp/mcp.json'],
    maps: [COMMON],
    note: 'JetBrains AI Assistant has no configuration file: add the command on its settings page, or import from Claude there.',
  },
]
