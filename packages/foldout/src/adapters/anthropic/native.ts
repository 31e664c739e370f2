import { dropUndefined, isObject } from 'foldout-shared/values'
import type { Anthropic } from '@anthropic-ai/sdk'
import { sha256Hex } from '../../core/hash.ts'
import { type Json } from '../../core/json/json.ts'
import type { AssistantMessage } from '../contract.ts'

type ContentParam = Anthropic.Beta.Messages.BetaContentBlockParam

export const ADAPTER_NAME = 'anthropic'

/** A reply as the provider wrote it. */
export interface NativeReply {
  readonly blocks: readonly ContentParam[]
  /**
   * Identifies everything that preceded the reply: the tools, the system text and the messages before it. Not the
   * model, because a newer one accepts what an earlier one thought.
   */
  readonly prefix: string | undefined
  /** The id of the container in which the provider's own tools ran. The next request has to name it. */
  readonly container: string | undefined
  /** The provider's id of the reply, which the next request names to have its cache misses explained. */
  readonly id: string | undefined
}

export function toNative(
  blocks: readonly object[],
  {
    prefix,
    container,
    id,
  }: { readonly prefix: string; readonly container?: string | undefined; readonly id?: string | undefined },
): NonNullable<AssistantMessage['native']> {
  const content = { blocks: blocks as unknown as Json, prefix, ...dropUndefined({ container, id }) }
  return { adapter: ADAPTER_NAME, content }
}

/**
 * Reads the content that this adapter stored with a reply, if any. The conversation may come from a store, so the shape
 * is checked.
 */
export function readNative({ native }: AssistantMessage): NativeReply | undefined {
  if (native?.adapter !== ADAPTER_NAME || !isObject(native.content)) return undefined
  const { blocks, prefix, container, id } = native.content
  if (!Array.isArray(blocks)) return undefined
  return {
    blocks: blocks.filter(isObject) as unknown as ContentParam[],
    prefix: typeof prefix === 'string' ? prefix : undefined,
    container: typeof container === 'string' ? container : undefined,
    id: typeof id === 'string' ? id : undefined,
  }
}

export function isThinking({ type }: { readonly type: string }): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Returns an identifier of the conversation up to and including this part. */
export function extendPrefix(prefix: string, part: unknown): string {
  return sha256Hex(`${prefix}${JSON.stringify(part)}`)
}
