// The Claude Agent SDK, whose executable drives its own loop and gets the prompt's tools as an in-process MCP server.
// The SDK is large and optional: npm install @anthropic-ai/claude-agent-sdk @modelcontextprotocol/sdk
import { claudeAgent } from 'foldout/claude-agent'
import { FoldoutError } from 'foldout'
import { exampleProvider } from './support/provider.ts'
import { runSupportDesk } from './support/run-support-desk.ts'

const provider = await exampleProvider('ANTHROPIC_API_KEY')
try {
  // The executable also sends its own requests, such as for titles, which the script does not answer.
  const env = { ...process.env, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }
  const local = provider.url === undefined ? {} : { baseURL: provider.url, env }
  await runSupportDesk(claudeAgent({ apiKey: provider.apiKey, ...local }), provider)
} catch (error) {
  if (!(error instanceof FoldoutError) || error.code !== 'peer-missing') throw error
  console.log(`${error.message}\nWith it, this example runs the support desk on the executable inside that package.`)
} finally {
  await provider.stop()
}
