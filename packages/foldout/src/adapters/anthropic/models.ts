/** What is known of the models from one version of Claude on. */
interface ModelRow {
  readonly from: readonly [major: number, minor: number]
  /** The most tokens a reply may have, thinking included. */
  readonly maxTokens: number
}

/** The newest first. Versions and limits as in Anthropic's list of models. */
const MODELS: readonly ModelRow[] = [
  { from: [4, 6], maxTokens: 128_000 },
  { from: [4, 5], maxTokens: 64_000 },
]

/** What every model takes. */
const FALLBACK_MAX_TOKENS = 8192

/**
 * The most tokens a reply of this model may have. Models that always think count their thinking too, so a low limit would
 * cut off answers. The name may be that of another platform, such as `us.anthropic.claude-sonnet-4-5-20250929-v1:0`.
 */
export function getDefaultMaxTokens(model: string): number {
  const version = readVersion(model)
  if (version === undefined) return FALLBACK_MAX_TOKENS
  const [major, minor] = version
  const row = MODELS.find(({ from }) => major > from[0] || (major === from[0] && minor >= from[1]))
  return row?.maxTokens ?? FALLBACK_MAX_TOKENS
}

/** A number of more than two digits is a date. */
const VERSION = /claude-(?:[a-z]{1,20}-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/

function readVersion(model: string): readonly [major: number, minor: number] | undefined {
  const [, major, minor] = VERSION.exec(model) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor ?? 0)]
}
