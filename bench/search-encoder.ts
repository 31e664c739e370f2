import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createHash } from 'node:crypto'
import type { Embed, Encoder } from 'foldout/catalog'
import { createMiniLm } from 'foldout/minilm'
import { createVectorFile } from 'foldout/node'
import { ENCODER_FOLDER, installEncoder, installOnnx, ONNX_FOLDER } from '../test/minilm/install.ts'
import { progress } from './report.ts'

/** Where the vectors of tools and queries are kept, because embedding the development sets takes minutes, and most of an hour with `fp16`. */
const VECTORS = fileURLToPath(new URL('../node_modules/.cache/foldout/search-bench-vectors', import.meta.url))
/** How requests are mapped. Their vectors are embedded again if this changes. */
const MAP = fileURLToPath(new URL('../packages/foldout/word-vectors/request-map.js', import.meta.url))
/** How many vectors are written at once. */
const WRITTEN_AT_ONCE = 32
const KEY = /^[0-9a-f]{32}/gm

/** The encoder of `foldout/minilm`, with cached query vectors, so that a search takes only the time outside the encoder. */
export async function createKeptEncoder({ isFp16 }: { readonly isFp16: boolean }): Promise<Encoder> {
  if (isFp16) installEncoder()
  else installOnnx()
  const { model, embed } = createMiniLm({ installedIn: isFp16 ? ENCODER_FOLDER : ONNX_FOLDER })
  const file = createVectorFile(VECTORS)
  const map = createHash('sha256').update(readFileSync(MAP)).digest('hex')
  const known = new Map(await file.read(existsSync(VECTORS) ? (readFileSync(VECTORS, 'latin1').match(KEY) ?? []) : []))
  const added = new Map<string, Int8Array>()
  const keep = async (most: number): Promise<void> => {
    if (added.size < most) return
    const some = new Map(added)
    added.clear()
    await file.write(some)
  }
  const embedOne = async (text: string, call: Parameters<Embed>[1]): Promise<Int8Array> => {
    const key = createHash('sha256')
      .update(JSON.stringify([model, call.kind === 'query' ? map : 'tool', text]))
      .digest('hex')
      .slice(0, 32)
    const kept = known.get(key)
    if (kept) return kept
    const [vector = []] = await embed([text], call)
    const largest = Math.max(...Array.from(vector, Math.abs))
    const bytes = Int8Array.from(vector, (value) => Math.round((127 * value) / largest))
    known.set(key, bytes)
    added.set(key, bytes)
    await keep(WRITTEN_AT_ONCE)
    if (known.size % 100 === 0) progress(`${known.size} texts are embedded ...`)
    return bytes
  }
  process.once('beforeExit', () => void keep(1))
  return {
    model,
    // One after the other: a batch is no faster with this encoder, and finished work is kept if the bench is stopped.
    embed: async (texts, call) => {
      const vectors: number[][] = []
      for (const text of texts) vectors.push([...(await embedOne(text, call))])
      return vectors
    },
  }
}
