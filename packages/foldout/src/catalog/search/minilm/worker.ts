// The thread of the encoder. Embedding a text computes for a tenth of a second, which would block everything else in the process.
import { parentPort, workerData } from 'node:worker_threads'
import { ignore } from '../../../core/promises.ts'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { importPeer } from '../../../core/peer.ts'
import type { CandleSetup, EncoderSetup, FromEncoder, ToEncoder } from './messages.ts'
import { loadOnnx } from './onnx.ts'
import { mapRequest } from './request-map.ts'

/** What is used of `@lat.md/embed`. It embeds few texts in the thread that calls it, one after the other. */
interface EmbedModule {
  createEmbedder(options: { readonly model: unknown }): Promise<{
    embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
  }>
}

/** What is used of a package of weights. */
interface ModelModule {
  readonly default: unknown
}

type Job = Extract<ToEncoder, { readonly type: 'embed' }> & { readonly vectors: Float32Array[] }

/** Ids are numbers that grow, and a map keeps its order: the oldest job comes first. */
const queries = new Map<number, Job>()
const others = new Map<number, Job>()
let isRunning = false

const setup = workerData as EncoderSetup
const loading = setup.engine === 'onnx' ? loadOnnx(setup) : loadCandle(setup)
// The code that waits for it sees the rejection, and nothing may be waiting yet.
void ignore(loading, 'what waits for it sees the rejection')

parentPort?.on('message', (message: ToEncoder) => {
  if (message.type === 'cancel') {
    queries.delete(message.id)
    others.delete(message.id)
    return
  }
  const jobs = message.kind === 'query' ? queries : others
  jobs.set(message.id, { ...message, vectors: [] })
  if (!isRunning) void run()
})

async function loadCandle({ runtime, weights }: CandleSetup): Promise<(text: string) => Promise<Float32Array>> {
  const { createEmbedder } = await importPeer<EmbedModule>(runtime, () => import(runtime) as Promise<EmbedModule>)
  const { default: model } = await importPeer<ModelModule>(weights, () => import(weights) as Promise<ModelModule>)
  const { embed } = await createEmbedder({ model })
  return async (text) => {
    const [vector = []] = await embed([text])
    return Float32Array.from(vector)
  }
}

/** Embeds one text at a time, and checks for queries before each, because someone waits for them. */
async function run(): Promise<void> {
  isRunning = true
  try {
    const embed = await loading
    for (;;) {
      const jobs = queries.size > 0 ? queries : others
      const [job] = jobs.values()
      if (!job) break
      await advance(job, jobs, embed)
      await new Promise((resolve) => setImmediate(resolve))
    }
  } catch (error) {
    const code = error instanceof FoldoutError ? error.code : 'peer-broken'
    send({ type: 'broken', code, message: getErrorMessage(error) })
  }
  isRunning = false
}

async function advance(
  job: Job,
  jobs: Map<number, Job>,
  embed: (text: string) => Promise<Float32Array>,
): Promise<void> {
  const { id, kind, texts, vectors } = job
  try {
    const text = texts[vectors.length]
    if (text !== undefined) {
      const vector = await embed(text)
      vectors.push(kind === 'query' ? mapRequest(vector) : vector)
    }
    if (vectors.length < texts.length) return
    send({ type: 'vectors', id, vectors })
  } catch (error) {
    send({ type: 'failed', id, message: getErrorMessage(error) })
  }
  jobs.delete(id)
}

function send(message: FromEncoder): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}
