// The Claude Agent SDK: its own query, with the prompt in it. A provider on this machine answers from the script.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { createSession } from 'foldout'
import { queryClaude } from 'foldout/claude-agent'
import { checkDesk, desk, questions, reply } from './desk.ts'

const provider = new LLMock({ port: 0 })
provider.on({}, ({ tools = [] }) => {
  const { call, text } = reply(tools.map((tool) => tool.function.name))
  return call ? { toolCalls: [{ name: call.name, arguments: JSON.stringify(call.arguments) }] } : { content: text }
})
await provider.start()
const home = mkdtempSync(join(tmpdir(), 'foldout-example-'))
const env = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  CLAUDE_CONFIG_DIR: join(home, 'config'),
  ANTHROPIC_BASE_URL: provider.url,
  ANTHROPIC_API_KEY: 'none',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
}

const session = createSession()
const answers: string[] = []
let resume: string | undefined
for (const prompt of questions) {
  const options = { model: 'claude-sonnet-4-5', env, cwd: home, tools: [], settingSources: [], resume }
  for await (const message of queryClaude(desk, { prompt, session, options })) {
    const { session_id: id, result } = message as { readonly session_id?: string; readonly result?: string }
    resume = id ?? resume
    if (result !== undefined) answers.push(result)
  }
}
await provider.stop()
rmSync(home, { recursive: true, force: true })
checkDesk(answers)
