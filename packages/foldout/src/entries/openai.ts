export {
  openai,
  openaiCompatible,
  type OpenAICompatibleOptions,
  type OpenAIOptions,
} from '../adapters/openai/openai.ts'
