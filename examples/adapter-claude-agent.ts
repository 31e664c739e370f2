// The Claude Agent SDK, whose executable drives its own loop and gets the prompt's tools as an in-process MCP server.
// The SDK is large and optional: npm install @anthropic-ai/claude-agent-sdk @modelcontextprotocol/sdk
import { claudeAgent } from 'foldout/claude-agent'
import { FoldoutError } from 'foldout'
import { exampleProvider } from './support/provider.ts'
import { runSupportDesk } from './support/run-support-desk.ts'

const provider = await exampleProvider('ANTHROPIC_API_KEY')
try {
  const baseURL = provider.url === undefined ? {} : { baseURL: provider.url }
  await runSupportDesk(claudeAgent({ apiKey: provider.apiKey, ...baseURL }), provider)
} catch (error) {
  if (!(error instanceof FoldoutError) || error.code !== 'peer-missing') throw error
  console.log(`${error.message}\nWith it, this example runs the support desk on the executable inside that package.`)
} finally {
  await provider.stop()
}
