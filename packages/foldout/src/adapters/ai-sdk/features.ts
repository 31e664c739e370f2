import { FoldoutError } from '../../core/errors.ts'
import { AdapterError } from '../adapter-error.ts'
import type { ChatReply, ChatRequest, RefusalMemory } from '../contract.ts'
import { isThinkingRefused, refuseThinking } from '../anthropic/refusals.ts'
import { isFormatRefused, isRefusedForGood } from '../failure.ts'
import { isRepair } from '../repair.ts'
import { getAddedTools } from '../tool-calls.ts'
import { hasMedia } from '../user-parts.ts'
import { isAdditionRefused, type AdditionStyle } from './additions.ts'

/** The features that one request uses. */
export interface SdkFeatures {
  /** Whether the output schema is sent to the provider. */
  readonly hasFormat: boolean
  /** How added tools are sent at their point in the conversation; undefined if they go to the end of the tool list. */
  readonly additions: AdditionStyle | undefined
  /** The prefixes of replies whose reasoning the provider rejected. */
  readonly refusedReasoning: ReadonlySet<string>
  /** Whether the ids of stored items are sent, by which OpenAI looks up what it has stored. */
  readonly hasItemIds: boolean
  /** Called with the prefixes of the replies whose reasoning a request sends back. */
  sends(prefixes: readonly string[]): void
}

interface FeatureOptions {
  readonly structuredOutput: boolean
  /** Whether the provider rejects an output schema while tools are offered. */
  readonly hasFormatQuirk: boolean
  readonly additions: AdditionStyle | undefined
  readonly refused: RefusalMemory
}

export interface Features {
  /** Whether added tools leave everything before them in the cache. */
  readonly addsInPlace: boolean
  /**
   * Sends a request with every feature that the provider has not rejected. A rejected feature is dropped and
   * remembered.
   */
  send(request: ChatRequest, ask: (using: SdkFeatures) => Promise<ChatReply>): Promise<ChatReply>
}

export function createFeatures(options: FeatureOptions): Features {
  // A provider may accept a schema, but not together with tools.
  const refusedAlone = new WeakSet<object>()
  const refusedBesideTools = new WeakSet<object>()
  const refusedReasoning = new Set<string>()
  const { refused } = options
  let additions = refused.has('added-tools') ? undefined : options.additions
  let hasItemIds = !refused.has('item-ids')
  const wantsFormat = (request: ChatRequest): boolean => {
    const { output } = request
    // Providers do not accept an array at the top of a schema.
    if (!options.structuredOutput || output?.container !== 'object') return false
    if (!hasTools(request)) return !refusedAlone.has(output)
    return !refusedBesideTools.has(output) && (!options.hasFormatQuirk || isRepair(request))
  }
  return {
    get addsInPlace() {
      return additions !== undefined
    },
    async send(request, ask) {
      let sent: readonly string[] = []
      const sends = (prefixes: readonly string[]): void => void (sent = prefixes)
      let using: SdkFeatures = { hasFormat: wantsFormat(request), additions, refusedReasoning, hasItemIds, sends }
      const dropped: (() => void)[] = []
      for (;;) {
        try {
          const reply = await ask(using)
          for (const remember of dropped) remember()
          return reply
        } catch (error) {
          const said = readRefusal(error) ?? readUnsupported(error)
          if (said !== undefined && sent.length > 0 && isThinkingRefused(said)) {
            refuseThinking(refusedReasoning, sent)
          } else if (said !== undefined && using.hasFormat && isFormatRefused(said)) {
            using = { ...using, hasFormat: false }
            dropped.push(() => {
              if (request.output) (hasTools(request) ? refusedBesideTools : refusedAlone).add(request.output)
              request.emit({ type: 'warning', message: FORMAT_WARNING })
            })
          } else if (said !== undefined && using.additions && isAdditionOf(request, said)) {
            using = { ...using, additions: undefined }
            dropped.push(() => {
              additions = undefined
              refused.add('added-tools')
              request.emit({ type: 'warning', message: ADDITION_WARNING })
            })
          } else if (said !== undefined && using.hasItemIds && isItemRefused(said)) {
            using = { ...using, hasItemIds: false }
            dropped.push(() => {
              hasItemIds = false
              refused.add('item-ids')
            })
          } else throw toInputError(error, request)
        }
      }
    },
  }
}

/** OpenAI answers so for organizations that store nothing. */
function isItemRefused(said: string): boolean {
  return /item_reference|items? (with id|not found|are not persisted)|is not persisted/i.test(said)
}

function isAdditionOf(request: ChatRequest, said: string): boolean {
  if (getAddedTools(request).size > 0) return isAdditionRefused(said)
  return /\bbetas?\b|mid-conversation-/i.test(said)
}

export function hasTools({ tools, addedTools }: ChatRequest): boolean {
  return tools.length > 0 || addedTools.size > 0
}

const FORMAT_WARNING =
  'The provider rejected the output schema. From now on, the shape of the answer is only requested in the prompt and checked when the answer is read. Set structuredOutput: false to avoid the attempt.'

const ADDITION_WARNING =
  "The provider does not accept tools that are added during a conversation. From now on, they are sent at the end of the tool list, which invalidates the cached prefix. Leave out toolAdditions: 'native' to avoid the attempt."

/** Returns the provider's message about a rejected request, if another form of the request may be accepted. */
function readRefusal(error: unknown): string | undefined {
  if (!(error instanceof AdapterError) || error.code !== 'adapter-refused') return undefined
  // OpenAI answers 404 for an item that it has not kept.
  if (![400, 404, 422].includes(error.status ?? 0)) return undefined
  if (isRefusedForGood(error.message)) return undefined
  return error.message
}

/** Returns the message of a provider package about a request that it cannot even send. */
function readUnsupported(error: unknown): string | undefined {
  if (error instanceof Error && error.name === 'AI_UnsupportedFunctionalityError') return error.message
  return undefined
}

/** A provider package that does not support a kind of image or file reports it before it sends anything. */
function toInputError(error: unknown, { messages }: ChatRequest): unknown {
  const said = readUnsupported(error)
  if (said === undefined || !messages.some(hasMedia)) return error
  return new FoldoutError('input-unsupported', `The provider's package cannot send this conversation: ${said}`, {
    cause: error,
  })
}
