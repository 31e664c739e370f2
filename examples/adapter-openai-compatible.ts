// Any endpoint that speaks Chat Completions: a LiteLLM proxy, vLLM, Ollama. Set COMPATIBLE_BASE_URL to use yours.
import { openaiCompatible } from 'foldout/openai'
import { exampleProvider } from './support/provider.ts'
import { runSupportDesk } from './support/run-support-desk.ts'

const provider = await exampleProvider('COMPATIBLE_BASE_URL')
const baseURL = provider.url === undefined ? provider.apiKey : `${provider.url}/v1`
await runSupportDesk(openaiCompatible({ baseURL, model: process.env['COMPATIBLE_MODEL'] ?? 'local' }), provider)
await provider.stop()
