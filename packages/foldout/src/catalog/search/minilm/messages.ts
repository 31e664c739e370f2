import type { EmbeddedText } from '../encoder.ts'

/** What the thread of the encoder loads: packages by name or address, and files by path. */
export type EncoderSetup = CandleSetup | OnnxSetup

/** The model in WebAssembly, with weights of 16 bits in a package. */
export interface CandleSetup {
  readonly engine: 'candle'
  readonly runtime: string
  readonly weights: string
}

/** The model in native code, with weights of 8 bits in a file. */
export interface OnnxSetup {
  readonly engine: 'onnx'
  readonly runtime: string
  readonly weights: string
  readonly tokenizer: string
}

/** Messages to the encoder's thread: texts to embed, or that nobody waits for them anymore. */
export type ToEncoder =
  | { readonly type: 'embed'; readonly id: number; readonly kind: EmbeddedText; readonly texts: readonly string[] }
  | { readonly type: 'cancel'; readonly id: number }

/** Messages from the encoder's thread. */
export type FromEncoder =
  | { readonly type: 'vectors'; readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  /** The model could not be loaded. */
  | { readonly type: 'broken'; readonly code: string; readonly message: string }
