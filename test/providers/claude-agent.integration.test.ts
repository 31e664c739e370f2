import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { claudeAgent, type ClaudeAgentSdk } from '../../packages/foldout/src/entries/claude-agent.ts'
import { adapterSuite } from '../../packages/foldout/src/testing/adapter-suite.ts'
import { importSdk, installSdk } from '../claude-agent/harness.ts'
import { startMockProvider, type RecordedRequest } from './mock.ts'
import { messagesWire } from './wires.ts'
import { removeFolder } from '../remove-folder.ts'

let sdk: ClaudeAgentSdk

beforeAll(async () => {
  installSdk()
  sdk = await importSdk()
}, 300_000)

const { getTools, getResults, getPrefixes } = messagesWire('plain')

adapterSuite<RecordedRequest>('claudeAgent', {
  getTools,
  getResults,
  getPrefixes,
  supportsDynamicTools: true,
  hasForeignRetries: true,
  firstTextMs: 8_000,
  hasForeignRepairs: true,
  skips: {
    'malformed call': 'the executable answers such calls itself',
    'hidden tool': 'the executable itself answers calls of unknown tools',
    prefix: 'the executable sorts the tools by name and rewrites its own reminders in the conversation',
    refusal: 'the executable repeats some refused requests with less content',
    'cut in text': 'the executable does not always get the text before a connection is reset, and then asks again',
  },
  async create({ script }) {
    const provider = await startMockProvider(script)
    const home = mkdtempSync(join(tmpdir(), 'foldout-claude-agent-'))
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, 'config'),
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    }
    return {
      adapter: claudeAgent({ model: 'claude-sonnet-5', sdk, env, cwd: home }),
      requests: () => provider.requests,
      isGivenUp: (request) => request.isGivenUp,
      async stop() {
        await provider.stop()
        await removeFolder(home)
      },
    }
  },
})
