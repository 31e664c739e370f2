/** A way in which servers that speak Chat Completions differ from OpenAI's own. */
export type Quirk =
  | 'format-without-tools'
  | 'reasoning-required'
  | 'reply-before-user'
  | 'short-call-ids'
  | 'signature-required'

interface QuirkRule {
  readonly name: Quirk
  /** Matches the hosts that are known to have the quirk. */
  readonly hosts?: RegExp
  /** Matches the refusal of a server that has the quirk. */
  readonly refusal?: RegExp
}

/** What is known about compatible servers. `chat-messages.ts` applies the quirks to a request. */
const QUIRKS: readonly QuirkRule[] = [
  {
    // While these servers enforce a format, the model cannot call tools (vLLM), or they refuse the request (Gemini 2,
    // Groq). They get the format only if no tools are offered, or when the model has to fix its answer.
    name: 'format-without-tools',
    hosts: /^(?!(\w+\.)?api\.openai\.com$)(?!.*\.azure\.com$)/,
  },
  {
    // DeepSeek and Kimi with thinking: a reply with calls must be sent back with its reasoning, even if that is empty.
    name: 'reasoning-required',
    hosts: /(^|\.)deepseek\.com$/,
    refusal: /reasoning_content\W.{0,80}(passed back|missing|required)|missing.{0,80}reasoning_content/i,
  },
  {
    // Mistral: a user message cannot follow a tool message, which happens when a run is resumed with new input.
    name: 'reply-before-user',
    hosts: /(^|\.)mistral\.ai$/,
    refusal: /role '?user'? after role '?tool'?/i,
  },
  {
    // Mistral: call ids must be nine letters and digits. Conversations that began with another provider have other ids.
    name: 'short-call-ids',
    hosts: /(^|\.)mistral\.ai$/,
    refusal: /tool call id .{0,200}length of 9/i,
  },
  {
    // Gemini 3: the first call of a reply must have a signature. For calls by other models Google defines a placeholder.
    name: 'signature-required',
    hosts: /(^|\.)googleapis\.com$/,
    refusal: /missing (a |its )?`?thought_signature/i,
  },
]

/** The quirks that the server at an address is known to have. */
export function getKnownQuirks(baseURL: string): readonly Quirk[] {
  const host = getHost(baseURL)
  return QUIRKS.filter(({ hosts }) => hosts?.test(host)).map(({ name }) => name)
}

/** The quirk that a refusal describes, if the request did not allow for it yet. */
export function findQuirk(refusal: string, using: ReadonlySet<string>): Quirk | undefined {
  return QUIRKS.find((quirk) => !using.has(quirk.name) && quirk.refusal?.test(refusal))?.name
}

/** The host of an address, without its port. */
export function getHost(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).hostname : ''
}
