import type { EmbeddedText } from '../vectors/encoder.ts'

/** The packages that the thread of the encoder loads, by name or address. */
export interface EncoderSetup {
  readonly engine: string
  readonly weights: string
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
