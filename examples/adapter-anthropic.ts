// Anthropic's Messages API.
import { anthropic } from 'foldout/anthropic'
import { exampleProvider } from './support/provider.ts'
import { runSupportDesk } from './support/run-support-desk.ts'

const provider = await exampleProvider('ANTHROPIC_API_KEY')
const baseURL = provider.url === undefined ? {} : { baseURL: provider.url }
await runSupportDesk(anthropic({ model: 'claude-opus-5-5', apiKey: provider.apiKey, ...baseURL }), provider)
await provider.stop()
