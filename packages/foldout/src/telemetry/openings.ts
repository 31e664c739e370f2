import type { AgentEvent } from '../agent/events.ts'
import { READ_SECTION } from '../disclosure/tools.ts'

/**
 * How a model was answered that asked for sections: `'dynamic'` in the same conversation, `'restart'` by a new render,
 * `'none'` not at all, because the run ended or put other sections first.
 */
export type OpeningAnswer = 'dynamic' | 'restart' | 'none'

export interface AskedOpening {
  readonly callId: string
  readonly keys: readonly string[]
}

interface Pending extends AskedOpening {
  readonly name: string
  readonly message: string
  /** Whether the conversation has gone on since. */
  wentOn: boolean
}

export interface OpeningWatch {
  onEvent(event: AgentEvent): void
  /** The run has ended: what is not known yet is decided by what is known. */
  settle(): void
  /** Openings that seem to be dynamic, but may yet turn out to wait for a restart. */
  readonly likelyDynamic: number
}

/**
 * Finds out how openings are answered. A call of a disclosure tool ends before it is clear what comes of it, so each is
 * told of when later events decide.
 */
export function watchOpenings(answered: (opening: AskedOpening, by: OpeningAnswer) => void): OpeningWatch {
  let pending: Pending[] = []

  function decide(isIt: (opening: Pending) => OpeningAnswer | undefined): void {
    const left: Pending[] = []
    const decided: (readonly [Pending, OpeningAnswer])[] = []
    for (const opening of pending) {
      const by = isIt(opening)
      if (by === undefined) left.push(opening)
      else decided.push([opening, by])
    }
    pending = left
    for (const [{ callId, keys }, by] of decided) answered({ callId, keys }, by)
  }

  return {
    get likelyDynamic() {
      return pending.filter((opening) => opening.wentOn && !isHalted(opening)).length
    },
    onEvent(event) {
      switch (event.type) {
        case 'tool/invoked': {
          const { callId, name, ok, message, disclosure } = event
          if (!ok || !disclosure?.keys.some((key) => !disclosure.full.includes(key))) return
          pending.push({ callId, name, message, keys: disclosure.keys, wentOn: false })
          return
        }
        case 'tools/injected': {
          const injected = pending.find(({ keys }) => event.keys.every((key) => keys.includes(key)))
          decide((opening) => (opening === injected ? 'dynamic' : undefined))
          return
        }
        case 'request/sent':
          for (const opening of pending) opening.wentOn = true
          return
        case 'run/expanded':
          decide(({ keys }) => (keys.some((key) => event.keys.includes(key)) ? 'restart' : undefined))
          return
        case 'prompt/rendered': {
          const full = new Set(event.full)
          decide((opening) => {
            if (opening.keys.every((key) => full.has(key))) return 'dynamic'
            // What was read in the conversation is full from then on; only files leave a section folded.
            return isHalted(opening) || opening.name === READ_SECTION ? 'none' : 'dynamic'
          })
          return
        }
      }
    },
    settle() {
      decide((opening) => (isHalted(opening) ? 'none' : 'dynamic'))
    },
  }
}

function isHalted({ message }: Pending): boolean {
  return message.startsWith(REQUESTED)
}

const REQUESTED = 'Sections requested for expansion:'

/** What a model reads in place of the text when sections are opened by a new render. */
export function requestedText(keys: readonly string[]): string {
  return `${REQUESTED} ${keys.join(', ')}.`
}
