import { readFile } from 'node:fs/promises'
import { importPeer } from '../../../core/peer.ts'
import type { OnnxSetup } from './messages.ts'
import { createWordPieces } from './word-pieces.ts'

/** What is used of `onnxruntime-node`. */
interface OnnxModule {
  readonly InferenceSession: {
    create(path: string, options: object): Promise<OnnxSession>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, shape: readonly number[]) => object
}

interface OnnxSession {
  run(feeds: Readonly<Record<string, object>>): Promise<Readonly<Record<string, OnnxOutput>>>
}

interface OnnxOutput {
  readonly data: Float32Array
  /** Texts, pieces, dimensions. */
  readonly dims: readonly number[]
}

/** What is used of a `tokenizer.json`. */
interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> }
}

/** The longest texts that the model was trained with. */
const MAX_PIECES = 256

/** Loads the model into the ONNX runtime, which computes in native code. */
export async function loadOnnx({
  runtime,
  weights,
  tokenizer,
}: OnnxSetup): Promise<(text: string) => Promise<Float32Array>> {
  const loaded = await importPeer<OnnxModule & { readonly default?: OnnxModule }>(
    'onnxruntime-node',
    () => import(runtime) as Promise<OnnxModule>,
  )
  const { InferenceSession, Tensor } = loaded.default ?? loaded
  const { model } = JSON.parse(await readFile(tokenizer, 'utf8')) as TokenizerFile
  const pieces = createWordPieces(new Map(Object.entries(model.vocab)))
  // More threads would gain little with such short texts, and take the other cores.
  const session = await InferenceSession.create(weights, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  return async (text) => {
    const ids = pieces.encode(text, MAX_PIECES)
    const toTensor = (values: BigInt64Array): object => new Tensor('int64', values, [1, ids.length])
    const { last_hidden_state: output } = await session.run({
      input_ids: toTensor(BigInt64Array.from(ids, BigInt)),
      attention_mask: toTensor(new BigInt64Array(ids.length).fill(1n)),
      token_type_ids: toTensor(new BigInt64Array(ids.length)),
    })
    if (!output) throw new Error('the model has no output `last_hidden_state`')
    return toUnitMean(output)
  }
}

/** The vector of a text is the mean of those of its pieces, with length 1. */
function toUnitMean({ data, dims }: OnnxOutput): Float32Array {
  const dimensions = dims.at(-1) ?? 1
  const mean = new Float32Array(dimensions)
  for (let at = 0; at < data.length; at++) mean[at % dimensions] = (mean[at % dimensions] ?? 0) + (data[at] ?? 0)
  const length = Math.hypot(...mean) || 1
  return mean.map((value) => value / length)
}
