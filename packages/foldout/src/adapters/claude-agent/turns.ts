import { canonicalJson } from '../../core/json/json.ts'
import type { ToolCall, ToolMessage } from '../contract.ts'
import type { CallRequest } from './tool-server.ts'

/** The calls of one reply. */
export interface Turn {
  readonly calls: readonly ToolCall[]
  readonly byId: ReadonlyMap<string, ToolCall>
  /** Whether the turn belongs to the conversation itself, not to a subagent. */
  readonly isMain: boolean
  /** The results so far, by call id. */
  readonly results: Map<string, ToolMessage>
  /** Settles when all calls have run, if they run together. */
  running?: Promise<void>
}

/** Matches the calls in the model's replies with the executable's requests to run them. */
export interface Turns {
  readonly last: Turn | undefined
  add(calls: readonly ToolCall[], isMain: boolean): void
  /**
   * Resolves once the reply with the call is complete: the executable requests the call while the rest is still being
   * streamed.
   */
  find(request: CallRequest): Promise<{ readonly turn: Turn; readonly call: ToolCall }>
}

export function createTurns(): Turns {
  const turns: Turn[] = []
  const waiting = new Set<() => boolean>()
  return {
    get last() {
      return turns.findLast(({ isMain }) => isMain)
    },
    add(calls, isMain) {
      const byId = new Map(calls.map((call) => [call.id, call]))
      turns.push({ calls, byId, isMain, results: new Map() })
      for (const look of waiting) if (look()) waiting.delete(look)
    },
    find: (request) =>
      new Promise((resolve) => {
        const look = (): boolean => {
          for (const turn of turns.toReversed()) {
            const call = findCall(turn, request)
            if (call === undefined) continue
            resolve({ turn, call })
            return true
          }
          return false
        }
        if (!look()) waiting.add(look)
      }),
  }
}

function findCall({ calls, byId, results }: Turn, { id, name, arguments: asked }: CallRequest): ToolCall | undefined {
  if (id !== undefined) return byId.get(id)
  const wanted = canonicalJson(asked)
  return calls.find((call) => call.name === name && !results.has(call.id) && canonicalJson(call.arguments) === wanted)
}
