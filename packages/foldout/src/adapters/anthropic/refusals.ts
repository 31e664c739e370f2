import { getErrorMessage } from '../../core/errors.ts'
import { AdapterError } from '../adapter-error.ts'
import { isRefusedForGood } from '../failure.ts'
import { MAX_REFUSED_THINKING } from '../limits.ts'
import type { AnthropicToolAdditions } from './options.ts'
import { BETAS, type Additions, type Features } from './request.ts'

/** The contents of a rejected request. */
export interface RefusedRequest {
  readonly features: Features
  readonly toolAdditions: AnthropicToolAdditions
  /** Whether the conversation adds tools. If not, only the name of the beta in the request is about additions. */
  readonly hasAddedTools: boolean
  /** The betas that the caller requested. */
  readonly ownBetas: readonly string[]
  /** Whether the caller set `maxTokens`; if so, it is never lowered. */
  readonly hasOwnMaxTokens: boolean
}

/** The beginning of an answer says what was rejected, so only this many characters are read. */
const MAX_ANSWER_CHARACTERS = 10_000

/** Some gateways respond to unknown fields with 422. */
export function isBadRequest(error: unknown): error is AdapterError {
  if (!(error instanceof AdapterError) || error.code !== 'adapter-refused') return false
  return error.status === 400 || error.status === 422
}

/** Returns the provider's message. */
export function getAnswer({ cause }: AdapterError): string {
  return getErrorMessage(cause).slice(0, MAX_ANSWER_CHARACTERS)
}

/**
 * Whether a request was rejected because of its thinking blocks, which are bound to the system text, tools and messages
 * from which they were created.
 */
export function isThinkingRefused(answer: string): boolean {
  return /bound to a different conversation|thinking.{0,200}cannot be modified|invalid .?signature/is.test(answer)
}

/** Remembers the replies whose thinking was rejected, by everything that preceded them. */
export function refuseThinking(refused: Set<string>, prefixes: readonly string[]): void {
  for (const prefix of prefixes) refused.add(prefix)
  for (const prefix of refused) {
    if (refused.size <= MAX_REFUSED_THINKING) break
    refused.delete(prefix)
  }
}

/**
 * Decides what to send instead of a rejected request. A feature is dropped only if the rejection names it: most
 * rejections, such as a conversation that is too long or an account without credit, would only be repeated. Added tools
 * are the exception: servers word their errors about unknown blocks in many ways.
 */
export function reduceFeatures(request: RefusedRequest, answer: string): Features | undefined {
  const { features } = request
  if (features.format && isFormatNamed(answer)) return { ...features, format: undefined }
  if (features.hasDiagnostics && /diagnos/i.test(answer)) return { ...features, hasDiagnostics: false }
  if (features.hasUpdates && isUpdatesNamed(answer)) return { ...features, hasUpdates: false }
  if (features.hasContainer && /\bcontainer\b/i.test(answer)) return { ...features, hasContainer: false }
  const maxTokens = request.hasOwnMaxTokens ? undefined : readMaxTokens(answer)
  if (maxTokens !== undefined && maxTokens < features.maxTokens) return { ...features, maxTokens }
  const additions = isAdditionsNamed(request, answer) ? getNextAdditions(request, answer) : undefined
  if (additions !== undefined) return { ...features, additions }
  return isAdditionsSuspected(request, answer) ? { ...features, additions: 'plain' } : undefined
}

function isUpdatesNamed(answer: string): boolean {
  return answer.includes(BETAS.updates) || /\bthinking\b|\bdisplay\b|\bbetas?\b/i.test(answer)
}

function isAdditionsSuspected({ features, toolAdditions, hasAddedTools }: RefusedRequest, answer: string): boolean {
  if (toolAdditions !== 'auto' || features.additions === 'plain' || !hasAddedTools) return false
  return !isRefusedForGood(answer) && !isAboutOtherField(answer)
}

/** Whether an answer names a field that is the same however tools are added. */
function isAboutOtherField(answer: string): boolean {
  return /(^|"message": ?")(?!messages\b|tools\b)[a-z_]{1,40}(\.\w{1,40}){0,9}: |input_schema|\.image\b/i.test(answer)
}

/** A rejected tool schema is named `input_schema`. */
function isFormatNamed(answer: string): boolean {
  return /output_config|output_format|schema|structured.?output|grammar/i.test(answer) && !/input_schema/i.test(answer)
}

function isAdditionsNamed({ features, hasAddedTools, ownBetas }: RefusedRequest, answer: string): boolean {
  if (features.additions === 'plain') return false
  if (features.additions === 'result') return hasAddedTools && /tool_reference|defer_loading/i.test(answer)
  if (answer.includes(BETAS[features.additions])) return true
  if (/\bbetas?\b/i.test(answer) && !ownBetas.some((beta) => answer.includes(beta))) return true
  return hasAddedTools && /\brole\b|tool_addition|tool_definition|tool_reference|defer_loading/i.test(answer)
}

/**
 * Bedrock and Google Cloud accept added tools only by reference. If an endpoint rejects system messages, it rejects
 * both ways.
 */
function getNextAdditions({ features, toolAdditions }: RefusedRequest, answer: string): Additions | undefined {
  if (features.additions === 'inline' && !/\brole\b/i.test(answer)) return 'reference'
  return toolAdditions === 'auto' ? 'plain' : undefined
}

/** Whether a limit applies to every request to the model, not only to one conversation. */
export function isLimitOfModel(answer: string): boolean {
  return MODEL_LIMIT.test(answer)
}

const MODEL_LIMIT = /max_tokens: \d{1,9} > (\d{1,9})/

/**
 * Reads the limit that the provider names: the limit of the model, or the space that the context window leaves for a
 * reply.
 */
function readMaxTokens(answer: string): number | undefined {
  const [, allowed] = MODEL_LIMIT.exec(answer) ?? []
  if (allowed !== undefined && Number(allowed) > 0) return Number(allowed)
  const [, input, window] = /context limit: (\d{1,9}) \+ \d{1,9} > (\d{1,9})/.exec(answer) ?? []
  const left = Number(window) - Number(input)
  return left > 0 ? left : undefined
}

/** Creates an error from the last rejection, with the provider's answer to the first attempt. */
export function createFinalRefusal(last: AdapterError, first: AdapterError): AdapterError {
  if (last === first || last.message === first.message) return first
  return new AdapterError(
    'adapter-refused',
    `${last.message} The first attempt, with all the features that the adapter uses, was answered with: ${getErrorMessage(first.cause)}`,
    { adapter: last.adapter, status: last.status, retryAfterMs: last.retryAfterMs, cause: last.cause },
  )
}

/** Formats the warning that tools are now added to the end of the list. */
export function describeAdditionsRefused(refusal: AdapterError): string {
  return `The endpoint does not accept tools that are added during the conversation, so added tools go to the end of the tool list, and each addition invalidates the cached prefix after it. To start that way, set toolAdditions: 'plain'. It said: ${getErrorMessage(refusal.cause)}`
}

/** Formats the warning that the provider does not enforce the schema. */
export function describeFormatRefused(refusal: AdapterError): string {
  return `The endpoint does not accept this output schema, so the answer is parsed from the model's text. It said: ${getErrorMessage(refusal.cause)}`
}
