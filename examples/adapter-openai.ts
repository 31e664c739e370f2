// OpenAI's Responses API; `interface: 'chat'` uses Chat Completions.
import { openai } from 'foldout/openai'
import { exampleProvider } from './support/provider.ts'
import { runSupportDesk } from './support/run-support-desk.ts'

for (const kind of ['responses', 'chat'] as const) {
  const provider = await exampleProvider('OPENAI_API_KEY')
  console.log(`\n${kind}`)
  const baseURL = provider.url === undefined ? {} : { baseURL: `${provider.url}/v1` }
  await runSupportDesk(openai({ model: 'gpt-5', interface: kind, apiKey: provider.apiKey, ...baseURL }), provider)
  await provider.stop()
}
