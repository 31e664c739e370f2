/**
 * Exact token counts for models of OpenAI.
 *
 * @module foldout/gpt-tokenizer
 */

export { gptTokenizer, type Encoding, type GptTokenizerOptions } from '../core/tokens/gpt-tokenizer.ts'
