import type { FoldoutError } from '../../../core/errors.ts'
import type { Searchable } from '../contract.ts'
import type { Signal } from '../join.ts'
import { MAX_EMBEDDED_AT_ONCE, MAX_EMBEDDING_MS, MAX_ENCODER_REST_MS, MAX_QUERY_EMBEDDING_MS } from '../limits.ts'
import { pause, startSlice, type Steps } from '../slices.ts'
import { getEncoderText } from '../text/tool-text.ts'
import type { Embed, Encoder } from '../encoder.ts'
import { createCheckedEmbed, isLate, type CheckedEmbed } from './encoder-calls.ts'
import { createKeptVectors, type KeptVectors } from './kept-vectors.ts'
import { VECTOR_COST, type Vector } from './meaning.ts'
import { createVectorBlock, toByteVector, type VectorBlock } from './vector-block.ts'

const FIRST_REST_MS = 1_000
/** How many texts are embedded before any others. */
const FIRST_BATCH = 8
/** Any model can embed this text, so it distinguishes a model that is down from a text that the model cannot read. */
const PROBE = 'Get the weather forecast.'

/** How near a text is to every tool, by an embedding model. Nothing here throws, and nothing waits for the tools' vectors. */
export interface EncoderMeaning {
  /** Why the encoder cannot compare a query with all tools now; `undefined` if it can. */
  readonly reason: string | undefined
  /** Whether it can compare a query with some of them. */
  readonly isUsable: boolean
  add(slot: number, tool: Searchable): void
  remove(slot: number): void
  /** Starts to embed the tools that have no vector yet, in the background. */
  begin(): void
  /** Embeds some tools before all others: those that were found or used. */
  prefer(slots: Iterable<number>): void
  /** Tries to embed them, even if the encoder failed a moment ago. Resolves when that is done or has failed. */
  ready(): Promise<void>
  /** Embeds a query and its parts, in this order; `undefined` if that is not possible now. */
  encode(texts: readonly string[]): Promise<readonly Vector[] | undefined>
  /** Compares a text with every tool, by slot. `estimate` says how near a tool without a vector is. */
  compare(vector: Vector, estimate: Signal['cosineAt']): Steps<Signal['cosineAt']>
}

/** Called once for each new problem, with the tool if a single one cannot be embedded. */
type OnProblem = (error: FoldoutError, tool?: string) => void

export interface EncoderMeaningOptions {
  readonly encoder: Embed | Encoder
  readonly onProblem: OnProblem
}

export function createEncoderMeaning({ encoder, onProblem }: EncoderMeaningOptions): EncoderMeaning {
  const { embed: given, ...keeping } = typeof encoder === 'function' ? { embed: encoder } : encoder
  const embed = createCheckedEmbed(given)
  const health = createHealth(onProblem)
  const kept = createKeptVectors({ ...keeping, onProblem: health.report })
  const tools = createToolVectors(kept)
  let isWanted = false
  let working: Promise<void> | undefined

  const work = async (): Promise<void> => {
    await pause()
    // The first vectors come soon, so that searches can use them.
    for (let most = FIRST_BATCH; tools.missing > 0; most = MAX_EMBEDDED_AT_ONCE) {
      await kept.load(tools.listTexts())
      await tools.place()
      const texts = tools.nextTexts(most)
      await embedTexts(texts, embed, kept, (text, error) => health.report(error, tools.refuse(text)))
    }
    health.succeed()
    kept.forgetUnused()
  }
  const start = (): Promise<void> =>
    (working ??= work()
      .catch((error: unknown) => health.fail(error as FoldoutError))
      .finally(() => (working = undefined)))
  const begin = (): void => {
    isWanted = true
    if (tools.missing > 0 && !health.isResting) void start()
  }

  return {
    get reason() {
      if (health.problem) return health.problem.message
      return tools.missing > 0 ? `${tools.missing} of ${tools.size} tools have no vector yet.` : undefined
    },
    get isUsable() {
      return !health.problem && tools.missing < tools.size
    },
    add(slot, tool) {
      tools.add(slot, tool)
      if (isWanted) begin()
    },
    remove: tools.remove,
    begin,
    prefer: tools.prefer,
    async ready() {
      isWanted = true
      // Embedding does not keep the process alive, but someone waits for it here.
      const timer = setInterval(() => undefined, MAX_EMBEDDING_MS)
      do await start()
      while (tools.missing > 0 && !health.problem)
      clearInterval(timer)
    },
    async encode(texts) {
      if (tools.missing === tools.size || health.isResting) return undefined
      try {
        const vectors = await embed(texts, 'query', MAX_QUERY_EMBEDDING_MS)
        health.succeed()
        if (vectors.every(tools.canCompare)) return vectors
        // An older model of the same name has filled the cache.
        tools.startOver()
        begin()
      } catch (error) {
        // A slow encoder works: the next query may be in time.
        if (isLate(error)) health.note(error as FoldoutError)
        else health.fail(error as FoldoutError)
      }
      return undefined
    },
    compare: tools.compare,
  }
}

/** Whether an encoder works. One that does not is left alone for a while, and longer each time. */
interface Health {
  readonly problem: FoldoutError | undefined
  readonly isResting: boolean
  readonly report: OnProblem
  fail(error: FoldoutError): void
  /** Reports a problem that is no reason to leave the encoder alone. */
  note(error: FoldoutError): void
  succeed(): void
}

function createHealth(onProblem: OnProblem): Health {
  const reported = new Set<string>()
  let problem: FoldoutError | undefined
  let restMs = FIRST_REST_MS
  let restsUntil = 0
  const report: OnProblem = (error, tool) => {
    if (reported.has(error.message)) return
    reported.add(error.message)
    onProblem(error, tool)
  }
  return {
    get problem() {
      return problem
    },
    get isResting() {
      return performance.now() < restsUntil
    },
    report,
    fail(error) {
      problem = error
      restsUntil = performance.now() + restMs
      restMs = Math.min(restMs * 2, MAX_ENCODER_REST_MS)
      report(error)
    },
    note(error) {
      problem = error
      report(error)
    },
    succeed() {
      problem = undefined
      restMs = FIRST_REST_MS
      restsUntil = 0
    },
  }
}

/** Embeds texts, and looks for those that fail alone. Rejects if the encoder fails with any text. */
async function embedTexts(
  texts: readonly string[],
  embed: CheckedEmbed,
  kept: KeptVectors,
  onRefused: (text: string, error: FoldoutError) => void,
): Promise<void> {
  const [first] = texts
  if (first === undefined) return
  try {
    const vectors = await embed(texts, 'tool', MAX_EMBEDDING_MS)
    await kept.keep(texts, vectors.map(toByteVector))
  } catch (error) {
    await embed([PROBE], 'tool', MAX_EMBEDDING_MS).catch(() => {
      throw error
    })
    if (texts.length === 1) return onRefused(first, error as FoldoutError)
    const middle = texts.length >> 1
    await embedTexts(texts.slice(0, middle), embed, kept, onRefused)
    await embedTexts(texts.slice(middle), embed, kept, onRefused)
  }
}

/** The tools of an index, and the vectors of those that have one. */
interface ToolVectors {
  readonly size: number
  /** How many have no vector yet. */
  readonly missing: number
  add(slot: number, tool: Searchable): void
  remove(slot: number): void
  /** The texts of tools without a vector. */
  listTexts(): ReadonlySet<string>
  /** Some of them, those of preferred tools first. */
  nextTexts(most: number): readonly string[]
  prefer(slots: Iterable<number>): void
  /** Puts vectors that are kept into place. */
  place(): Promise<void>
  /** Gives up on a text that cannot be embedded, and returns the qualified name of a tool that has it. */
  refuse(text: string): string | undefined
  /** Forgets all vectors. */
  startOver(): void
  canCompare(vector: Vector): boolean
  compare(vector: Vector, estimate: Signal['cosineAt']): Steps<Signal['cosineAt']>
}

interface EmbeddedTool {
  readonly text: string
  readonly qualified: string
}

/** The texts of some waiting tools, each once, in the order of the slots. */
function takeTexts(
  most: number,
  waiting: ReadonlyMap<number, EmbeddedTool>,
  slots: readonly Iterable<number>[],
): readonly string[] {
  const texts = new Set<string>()
  for (const some of slots) {
    for (const slot of some) {
      if (texts.size >= most) return [...texts]
      const text = waiting.get(slot)?.text
      if (text !== undefined) texts.add(text)
    }
  }
  return [...texts]
}

function createToolVectors(kept: KeptVectors): ToolVectors {
  const waiting = new Map<number, EmbeddedTool>()
  const placed = new Map<number, EmbeddedTool>()
  const refused = new Set<string>()
  /** The slots of waiting tools that go first, the last preferred one at the end. */
  const preferred = new Set<number>()
  let block: VectorBlock | undefined
  let dimensions = 0

  const startOver = (): void => {
    for (const [slot, tool] of placed) waiting.set(slot, tool)
    placed.clear()
    kept.distrust()
    block = undefined
    dimensions = 0
  }
  /** Returns whether a vector fits in with the others. */
  const put = (slot: number, vector: Int8Array): boolean => {
    if (!block) {
      dimensions = vector.length
      block = createVectorBlock(dimensions)
    }
    if (vector.length !== dimensions) return false
    block.set(slot, vector)
    return true
  }

  return {
    get size() {
      return waiting.size + placed.size
    },
    get missing() {
      return waiting.size
    },
    listTexts: () => new Set(Array.from(waiting.values(), ({ text }) => text)),
    nextTexts: (most) => takeTexts(most, waiting, [preferred, waiting.keys()]),
    prefer(slots) {
      for (const slot of slots) if (waiting.has(slot)) preferred.add(slot)
    },
    add(slot, tool) {
      const text = getEncoderText(tool)
      kept.use(text)
      waiting.set(slot, { text, qualified: tool.qualified })
    },
    remove(slot) {
      const tool = waiting.get(slot) ?? placed.get(slot)
      if (!tool) return
      waiting.delete(slot)
      preferred.delete(slot)
      placed.delete(slot)
      kept.release(tool.text)
      block?.remove(slot)
    },
    async place() {
      const slice = startSlice()
      for (const [slot, tool] of waiting) {
        const vector = kept.get(tool.text)
        if (!vector && !refused.has(tool.text)) continue
        if (vector && !put(slot, vector)) return startOver()
        waiting.delete(slot)
        preferred.delete(slot)
        placed.set(slot, tool)
        if (slice.spend(VECTOR_COST)) await slice.next()
      }
    },
    refuse(text) {
      refused.add(text)
      return [...waiting.values()].find((tool) => tool.text === text)?.qualified
    },
    startOver,
    canCompare: (vector) => !block || vector.length === dimensions,
    *compare(vector, estimate) {
      if (!block) return estimate
      const { has } = block
      const cosineAt = yield* block.allCosinesWith(vector)
      return (slot) => (has(slot) ? cosineAt(slot) : estimate(slot))
    },
  }
}
