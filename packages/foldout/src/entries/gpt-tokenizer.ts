export { gptTokenizer, type Encoding, type GptTokenizerOptions } from '../core/tokens/gpt-tokenizer.ts'
