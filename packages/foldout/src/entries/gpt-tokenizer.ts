/**
 * Exact token counts for OpenAI models.
 *
 * @module foldout/gpt-tokenizer
 */

export { gptTokenizer, type Encoding, type GptTokenizerOptions } from '../core/tokens/gpt-tokenizer.ts'
