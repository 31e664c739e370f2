export { openai, openaiCompatible, type OpenAICompatibleOptions, type OpenAIOptions } from './openai.ts'
