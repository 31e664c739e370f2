import type { ModelStep, StepUsage } from 'foldout/testing/suites'

/** A message in the invented provider's format; a `tools` line adds tools at its place in the conversation. */
export type AcmeLine =
  | { readonly role: 'user' | 'assistant'; readonly text: string; readonly calls?: readonly AcmeCall[] }
  | { readonly role: 'result'; readonly id: string; readonly text: string }
  | { readonly role: 'tools'; readonly tools: readonly AcmeTool[] }

export interface AcmeTool {
  readonly name: string
  readonly description: string
  readonly schema: unknown
}

export interface AcmeCall {
  readonly id: string
  readonly name: string
  /** As the model wrote them. */
  readonly arguments: string
}

export interface AcmeRequest {
  readonly system: string
  readonly tools: readonly AcmeTool[]
  readonly schema?: unknown
  readonly lines: readonly AcmeLine[]
}

export type AcmeEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: AcmeCall }
  | { readonly type: 'end'; readonly usage: StepUsage }

/** A request as the provider received it, and whether the client canceled it. */
export interface ReceivedRequest extends AcmeRequest {
  isGivenUp: boolean
}

/** An invented provider that follows a script. Its client looks like an SDK's: a call that returns a stream. */
export interface Acme {
  readonly requests: readonly ReceivedRequest[]
  stream(request: AcmeRequest, signal: AbortSignal): AsyncGenerator<AcmeEvent>
}

export function createAcme(script: readonly ModelStep[]): Acme {
  const requests: ReceivedRequest[] = []
  return {
    requests,
    async *stream(request, signal) {
      const received = { ...structuredClone(request), isGivenUp: false }
      const step = script[requests.push(received) - 1]
      if (step === undefined) throw new Error('The script is over.')
      if ('refuses' in step) {
        const { refuses: status, message = 'No.', headers = {} } = step
        throw Object.assign(new Error(message), { status, headers })
      }
      if ('calls' in step) {
        for (const [at, { name, arguments: args = {}, malformed }] of step.calls.entries()) {
          const id = `acme_${requests.length}_${at}`
          yield { type: 'call', call: { id, name, arguments: malformed ?? JSON.stringify(args) } }
        }
      } else {
        const parts = step.says.match(/[^]{1,8}/gu) ?? []
        const shown = step.ends?.where === 'in text' ? parts.slice(0, 2) : parts
        if (step.ends?.where !== 'before text') for (const text of shown) yield { type: 'text', text }
        if (step.ends?.how === 'cut') throw new TypeError('terminated')
        if (step.ends?.how === 'closed') return
        if (step.ends?.how === 'stalled') {
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          received.isGivenUp = true
          signal.throwIfAborted()
        }
      }
      yield { type: 'end', usage: step.usage ?? { inputTokens: 10, outputTokens: 1 } }
    },
  }
}
