import { RULES, readBetas, sign, type MessagesBody } from './anthropic-server.ts'
import type { Behavior, RecordedRequest } from './mock.ts'
import {
  onFormatBesideTools,
  onLoneReasoning,
  onLongCallIds,
  onMissingReasoning,
  onMissingSignature,
  onToolSchemas,
  onUserAfterTool,
  type Body,
  type Refusal,
} from './openai-refusals.ts'

/** Refuses what a provider's documentation says it refuses. */
function refuseAll(refusals: readonly Refusal[]): NonNullable<Behavior['refuse']> {
  return ({ body }) => refusals.map((refuse) => refuse(body as Body)).find((said) => said !== undefined)
}

const THOUGHT = 'Let me think.'

/** OpenAI, on both interfaces. */
export const openaiBehavior: Behavior = { refuse: refuseAll([onToolSchemas, onLoneReasoning]) }

const onFormat = onFormatBesideTools('json mode cannot be combined with tool/function calling')
/** To fix an answer, a format is requested together with tools; the last message is then the model's. */
const onFormatBeforeFix: Refusal = (body) => (body.messages?.at(-2)?.role === 'assistant' ? undefined : onFormat(body))

const onStreamOptions: Refusal = (body) =>
  'stream_options' in body ? 'Extra inputs are not permitted: stream_options' : undefined

/** Servers that speak Chat Completions, each with what it refuses beyond OpenAI. */
export const compatibleBehaviors = {
  'http://127.0.0.1': { refuse: refuseAll([onToolSchemas, onFormatBeforeFix]) },
  'https://api.deepseek.com': {
    refuse: refuseAll([onToolSchemas, onFormatBeforeFix, onMissingReasoning]),
    think: () => ({ reasoning: THOUGHT }),
  },
  'https://api.mistral.ai': {
    refuse: refuseAll([onToolSchemas, onFormatBeforeFix, onUserAfterTool, onLongCallIds, onStreamOptions]),
    reportsUsage: true,
  },
  'https://generativelanguage.googleapis.com': {
    refuse: refuseAll([onToolSchemas, onFormatBeforeFix, onMissingSignature]),
  },
} satisfies Readonly<Record<string, Behavior>>

/** Anthropic, whose thinking is bound to its conversation. */
export const anthropicBehavior: Behavior = {
  refuse(request) {
    const read = { body: readMessages(request), betas: readBetas(request.headers['anthropic-beta']) }
    return RULES.map((rule) => rule(read)).find((said) => said !== undefined)
  },
  think(request) {
    const body = readMessages(request)
    return { reasoning: THOUGHT, reasoningSignature: sign(body, body.messages.length, []) }
  },
}

function readMessages({ body }: RecordedRequest): MessagesBody {
  return body as unknown as MessagesBody
}
