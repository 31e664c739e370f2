/**
 * OpenAI models, and every compatible endpoint: LiteLLM, vLLM, Ollama.
 *
 * @module foldout/openai
 */

export {
  openai,
  openaiCompatible,
  type OpenAICompatibleOptions,
  type OpenAIOptions,
} from '../adapters/openai/openai.ts'
