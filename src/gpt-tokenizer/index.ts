export { gptTokenizer, type Encoding, type GptTokenizerOptions } from './gpt-tokenizer.ts'
