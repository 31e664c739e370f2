import { importPeer } from '../peer.ts'
import { createCachedCounter, type TokenCounter } from './tokens.ts'

/**
 * The encodings of OpenAI's models: `o200k_base` since GPT-4o, `cl100k_base` for GPT-4 and GPT-3.5.
 *
 * @example
 * ```ts
 * const encoding: Encoding = 'o200k_base'
 * ```
 */
export type Encoding = 'o200k_base' | 'cl100k_base'

/**
 * The options of {@link gptTokenizer}.
 *
 * @example
 * ```ts
 * const options: GptTokenizerOptions = { encoding: 'cl100k_base' }
 * ```
 */
export interface GptTokenizerOptions {
  /** The encoding. Default `o200k_base`. */
  readonly encoding?: Encoding
}

/**
 * Loads a counter that counts as OpenAI's models do, using the package `gpt-tokenizer`. Loading takes about half a
 * second.
 *
 * @example
 * ```ts
 * const counter = await gptTokenizer()
 * bound.render({ counter }).tokens.exact // => true
 * ```
 */
export async function gptTokenizer(options: GptTokenizerOptions = {}): Promise<TokenCounter> {
  const { encoding = 'o200k_base' } = options
  const { countTokens } = await importPeer('gpt-tokenizer', () => {
    if (encoding === 'o200k_base') return import('gpt-tokenizer/encoding/o200k_base')
    return import('gpt-tokenizer/encoding/cl100k_base')
  })
  return createCachedCounter({
    name: `gpt-tokenizer ${encoding}`,
    exact: true,
    // A prompt may mention special tokens such as <|endoftext|>; they count as ordinary text.
    count: (text) => countTokens(text, { disallowedSpecial: new Set() }),
  })
}
