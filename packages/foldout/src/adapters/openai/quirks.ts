/** A way in which servers that speak Chat Completions differ from OpenAI's own. */
export type Quirk =
  | 'format-without-tools'
  | 'reasoning-required'
  | 'reply-before-user'
  | 'short-call-ids'
  | 'signature-required'

interface QuirkRule {
  readonly name: Quirk
  /** Matches the hosts that are known to have it. */
  readonly hosts?: RegExp
  /** Matches the answer of a server that has it, to a request that did not allow for it. */
  readonly refusal?: RegExp
}

/** All that is known of compatible servers. What each quirk means for a request is in `chat-messages.ts`. */
const QUIRKS: readonly QuirkRule[] = [
  {
    // A server that enforces a format for the answer lets the model call no tool (vLLM), or refuses the request (Gemini
    // 2, Groq). There the format is sent only if no tools are offered, or when the model has to fix its answer.
    name: 'format-without-tools',
    hosts: /^(?!(\w+\.)?api\.openai\.com$)(?!.*\.azure\.com$)/,
  },
  {
    // DeepSeek and Kimi, when thinking: a reply with calls must go back with its reasoning, though it be empty.
    name: 'reasoning-required',
    hosts: /(^|\.)deepseek\.com$/,
    refusal: /reasoning_content\W.{0,80}(passed back|missing|required)|missing.{0,80}reasoning_content/i,
  },
  {
    // Mistral: the user may not speak after a tool, as happens when a run is resumed with a new input.
    name: 'reply-before-user',
    hosts: /(^|\.)mistral\.ai$/,
    refusal: /role '?user'? after role '?tool'?/i,
  },
  {
    // Mistral: the ids of calls have nine letters and digits. Conversations that began elsewhere have others.
    name: 'short-call-ids',
    hosts: /(^|\.)mistral\.ai$/,
    refusal: /tool call id .{0,200}length of 9/i,
  },
  {
    // Gemini 3: the first call of a reply must have a signature. Calls of other models get one that Google provides for them.
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

/** The quirk that a server's refusal tells of, if the request did not allow for it. */
export function findQuirk(refusal: string, using: ReadonlySet<string>): Quirk | undefined {
  return QUIRKS.find((quirk) => !using.has(quirk.name) && quirk.refusal?.test(refusal))?.name
}

/** The host of an address, without its port. */
export function getHost(baseURL: string): string {
  return URL.canParse(baseURL) ? new URL(baseURL).hostname : ''
}
