import { sha256Hex } from '../core/hash.ts'
import type { RefusalMemory } from './contract.ts'

/** A way in which providers differ from OpenAI. */
export type Quirk =
  | 'alternating-roles'
  | 'format-without-tools'
  | 'no-empty-replies'
  | 'no-stream-options'
  | 'plain-call-ids'
  | 'reasoning-required'
  | 'reply-before-user'
  | 'short-call-ids'
  | 'signature-required'
  | 'strict-tools'

interface QuirkRule {
  readonly name: Quirk
  /** Matches the hosts that are known to have the quirk, for servers that speak Chat Completions. */
  readonly hosts?: RegExp
  /** Matches the providers of the AI SDK that are known to have the quirk: `mistral.chat`, or `groq` behind the gateway. */
  readonly providers?: RegExp
  /** Matches the error of a server that has the quirk. */
  readonly refusal?: RegExp
}

/** The known quirks of providers. The conversion of messages applies them to a request. */
const QUIRKS: readonly QuirkRule[] = [
  {
    // While these servers enforce a format, the model cannot call tools (vLLM), or they reject the request (Gemini 2,
    // Groq). They get the format only if no tools are offered, or when the model has to fix its answer.
    name: 'format-without-tools',
    hosts: /^(?!(\w+\.)?api\.openai\.com$)(?!.*\.(openai|services\.ai|cognitiveservices)\.azure\.com$)/,
    providers: /^(?!(openai|azure|azure-openai|amazon-bedrock)(\.|$))(?!(.*\.)?anthropic(\.|$))/,
  },
  {
    // Chat templates of several models (Gemma, Llama 2, Mistral) behind vLLM and others.
    name: 'alternating-roles',
    refusal: /roles must alternate|alternate user\/assistant/i,
  },
  {
    // Kimi: "the message at position 2 with role 'assistant' must not be empty".
    name: 'no-empty-replies',
    hosts: /(^|\.)moonshot\.(ai|cn)$/,
    refusal:
      /role '?"?assistant'?"?.{0,80}(must not|cannot|can't) be empty|assistant message must have either content/i,
  },
  // Mistral answers `stream_options` with 422 (`extra_forbidden`), and reports the usage anyway.
  { name: 'no-stream-options', hosts: /(^|\.)mistral\.ai$/ },
  {
    // OpenAI: ids of at most 40 characters.
    name: 'plain-call-ids',
    hosts: /(^|\.)(api\.openai\.com|azure\.com)$/,
    providers: /^(openai|azure|azure-openai|amazon-bedrock)(\.|$)|(^|\.)anthropic(\.|$)/,
    refusal: /tool_call.{0,120}(too long|maximum length)|tool_use.{0,40}\bid\b.{0,80}pattern/i,
  },
  {
    // DeepSeek and Kimi with thinking: a reply with calls must be sent back with its reasoning, even if that is empty. Kimi
    // says "thinking is enabled but reasoning_content is missing in assistant tool call message at index 7".
    name: 'reasoning-required',
    hosts: /(^|\.)(deepseek\.com|moonshot\.(ai|cn))$/,
    refusal: /reasoning_content\W.{0,80}(passed back|missing|required)|missing.{0,80}reasoning_content/i,
  },
  {
    // Mistral: a user message cannot follow a tool message, which happens when a run is resumed with new input.
    name: 'reply-before-user',
    hosts: /(^|\.)mistral\.ai$/,
    providers: /^mistral(\.|$)/,
    refusal: /role '?user'? after role '?tool'?/i,
  },
  {
    // Mistral: call ids must be nine letters and digits (its error 3280). Conversations that started with another
    // provider have other ids.
    name: 'short-call-ids',
    hosts: /(^|\.)mistral\.ai$/,
    providers: /^mistral(\.|$)/,
    refusal: /tool call id .{0,200}length of 9/i,
  },
  {
    // Gemini 3: the first call of a reply must have a signature. For calls by other models Google defines two placeholders.
    name: 'signature-required',
    hosts: /(^|\.)googleapis\.com$/,
    refusal: /missing (a |its )?[`'"]?thought_signature/i,
  },
  {
    // OpenAI's Responses API treats the schemas of tools as strict unless a request says otherwise, and rejects most of
    // them.
    name: 'strict-tools',
    providers: /^(openai|azure|azure-openai)(\.|$)/,
  },
]

export const QUIRK_NAMES: readonly Quirk[] = QUIRKS.map(({ name }) => name)

/** What one model at one address refuses, kept in the memory of the user's, if there is one. */
export function getRefusals(memory: RefusalMemory | undefined, host: string, model: string): RefusalMemory {
  const own = new Set<string>()
  const toEntry = (name: string): string => `${host} ${model} ${name}`
  return {
    has: (name) => own.has(name) || memory?.has(toEntry(name)) === true,
    add(name) {
      own.add(name)
      memory?.add(toEntry(name))
    },
  }
}

/** Returns the known quirks of the server at an address. */
export function getKnownQuirks(baseURL: string): readonly Quirk[] {
  const host = getHost(baseURL)
  return QUIRKS.filter(({ hosts }) => hosts?.test(host)).map(({ name }) => name)
}

/** Returns the known quirks of an AI SDK provider. */
export function getProviderQuirks(provider: string): readonly Quirk[] {
  return QUIRKS.filter(({ providers }) => providers?.test(provider)).map(({ name }) => name)
}

/** Finds the quirk that an error describes, if the request did not account for it yet. */
export function findQuirk(refusal: string, using: ReadonlySet<string>): Quirk | undefined {
  return QUIRKS.find((quirk) => !using.has(quirk.name) && quirk.refusal?.test(refusal))?.name
}

/** Returns the host of an address, without its port. */
export function getHost(baseURL: string): string {
  if (URL.canParse(baseURL)) return new URL(baseURL).hostname
  return ''
}

/** Converts a call id to one that Mistral accepts. The same id always gives the same result. */
export function toShortId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  return sha256Hex(id).slice(0, 9)
}

/**
 * Inserted as a model reply between a tool result and a user message, if a provider does not accept one directly after
 * the other.
 */
export const REPLY_BEFORE_USER = 'OK.'
