// The types of what `npm run search:train` writes here. The entry `foldout/word-vectors` leads to it.
export declare const dimensions: number
export declare const size: number
export declare const weights: readonly [number, number]
export declare const fields: {
  readonly name: number
  readonly source: number
  readonly description: number
  readonly tags: number
  readonly category: number
  readonly parameters: number
}
export declare const parts: readonly (() => Promise<{ readonly words: string; readonly rows: string }>)[]
