import type { ClientDescription, Scope, Switches } from '../client.ts'

const COMMON = { path: ['mcpServers'], shape: {} } as const
const TOML_TABLE = { path: ['mcp_servers'], shape: {} } as const
const OPENCODE_SHAPE = { isCommandList: true, fixed: { type: 'local' } } as const
const OPENCODE_MAPS = [
  { path: ['mcp'], shape: { ...OPENCODE_SHAPE, fixed: { type: 'local', enabled: true } } },
  // opencode's second version.
  { path: ['mcp', 'servers'], shape: OPENCODE_SHAPE },
] as const

const CLAUDE_STATE = '{CLAUDE_CONFIG_DIR|~}/.claude.json'

/** The user's state has both lists for each project; settings have only the list for `.mcp.json`. */
const CLAUDE_SWITCHES: readonly Switches[] = [
  { scope: 'project', files: [CLAUDE_STATE], path: ['projects', '{project}', 'disabledMcpServers'], rule: 'denied' },
  {
    scope: 'project',
    files: [CLAUDE_STATE],
    path: ['projects', '{project}', 'disabledMcpjsonServers'],
    rule: 'denied',
    of: 'project',
  },
  {
    scope: 'project',
    files: ['.claude/settings.local.json', '.claude/settings.json', '{CLAUDE_CONFIG_DIR|~/.claude}/settings.json'],
    path: ['disabledMcpjsonServers'],
    rule: 'denied',
    of: 'project',
  },
]

const listGeminiSwitches = (scope: Scope, file: string): readonly Switches[] => [
  { scope, files: [file], path: ['mcp', 'excluded'], rule: 'denied' },
  { scope, files: [file], path: ['mcp', 'allowed'], rule: 'allowed' },
]

const GEMINI_SWITCHES: readonly Switches[] = [
  ...listGeminiSwitches('user', '~/.gemini/settings.json'),
  ...listGeminiSwitches('project', '.gemini/settings.json'),
  { scope: 'user', files: ['~/.gemini/mcp-server-enablement.json'], path: [], rule: 'enabled' },
]

/** Terminal agents. */
export const TERMINALS: readonly ClientDescription[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    user: [CLAUDE_STATE],
    project: ['.mcp.json'],
    // With its tool search, Claude Code waits at its start only for servers that are always loaded.
    maps: [{ path: ['mcpServers'], shape: { fixed: { type: 'stdio', alwaysLoad: true } } }],
    ofProject: [['projects', '{project}', 'mcpServers']],
    switches: CLAUDE_SWITCHES,
    own: {
      program: 'claude',
      scopes: ['user', 'project'],
      add: ['mcp', 'add-json', '-s', '{scope}', '{name}', '{entry}'],
    },
  },
  {
    name: 'codex',
    title: 'Codex',
    format: 'toml',
    user: ['{CODEX_HOME|~/.codex}/config.toml'],
    project: ['.codex/config.toml'],
    maps: [TOML_TABLE],
    own: {
      program: 'codex',
      scopes: ['user'],
      add: ['mcp', 'add', '{name}', '--', '{command}'],
    },
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    format: 'json',
    user: ['~/.gemini/settings.json'],
    project: ['.gemini/settings.json'],
    maps: [COMMON],
    switches: GEMINI_SWITCHES,
    hasBareVariables: true,
    own: {
      program: 'gemini',
      scopes: ['user', 'project'],
      add: ['mcp', 'add', '-s', '{scope}', '{name}', '{command}'],
    },
  },
  {
    name: 'goose',
    title: 'Goose',
    format: 'yaml',
    user: {
      linux: ['{XDG_CONFIG_HOME|~/.config}/goose/config.yaml'],
      darwin: ['~/.config/goose/config.yaml'],
      win32: ['{app}/Block/goose/config/config.yaml'],
    },
    maps: [
      {
        path: ['extensions'],
        shape: {
          command: 'cmd',
          hasName: true,
          fixed: { description: '', type: 'stdio', enabled: true, envs: {}, timeout: 300 },
        },
      },
    ],
    link: 'goose://extension?cmd={program}&{args}&id={name}&name={name}',
  },
  {
    name: 'opencode',
    title: 'opencode',
    format: 'json',
    user: ['{XDG_CONFIG_HOME|~/.config}/opencode/opencode.json', '{XDG_CONFIG_HOME|~/.config}/opencode/opencode.jsonc'],
    project: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    maps: OPENCODE_MAPS,
  },
  {
    name: 'kilo-code',
    title: 'Kilo Code',
    format: 'json',
    user: ['{XDG_CONFIG_HOME|~/.config}/kilo/kilo.json', '{XDG_CONFIG_HOME|~/.config}/kilo/kilo.jsonc'],
    project: ['kilo.json', 'kilo.jsonc', '.kilo/kilo.json', '.kilo/kilo.jsonc', '.kilocode/kilo.json'],
    maps: OPENCODE_MAPS,
  },
  {
    name: 'copilot-cli',
    title: 'Copilot CLI',
    format: 'json',
    user: ['~/.copilot/mcp-config.json'],
    project: ['.mcp.json', '.github/mcp.json'],
    maps: [{ path: ['mcpServers'], shape: { fixed: { type: 'stdio', tools: ['*'] } } }],
  },
  {
    name: 'grok-build',
    title: 'Grok Build',
    format: 'toml',
    user: ['{GROK_HOME|~/.grok}/config.toml'],
    project: ['.grok/config.toml'],
    maps: [TOML_TABLE],
  },
  {
    name: 'kimi-code',
    title: 'Kimi Code',
    format: 'json',
    user: ['{KIMI_CODE_HOME|~/.kimi-code}/mcp.json'],
    project: ['.kimi-code/mcp.json'],
    maps: [{ path: ['mcpServers'], shape: { fixed: { transport: 'stdio' } } }],
  },
  {
    name: 'pi',
    title: 'Pi',
    format: 'json',
    user: ['{PI_CODING_AGENT_DIR|~/.pi/agent}/mcp.json'],
    project: ['.pi/mcp.json'],
    maps: [COMMON],
    note: 'Pi reads this file with the extension pi-mcp-adapter.',
  },
  {
    name: 'mastra-code',
    title: 'Mastra Code',
    format: 'json',
    user: ['~/.mastracode/mcp.json'],
    project: ['.mastracode/mcp.json'],
    maps: [COMMON],
  },
  {
    name: 'mcporter',
    title: 'mcporter',
    format: 'json',
    user: ['~/.mcporter/mcporter.json', '~/.mcporter/mcporter.jsonc'],
    project: ['config/mcporter.json'],
    maps: [COMMON],
  },
]
