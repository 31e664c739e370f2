/** A number of more than two digits is a date. */
const VERSION = /claude-(?:[a-z]{1,20}-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/

type Version = readonly [major: number, minor: number]

/** Reads the version from the name of a model, which may come from another platform: `us.anthropic.claude-sonnet-4-5-…`. */
export function readVersion(model: string): Version | undefined {
  const [, major, minor] = VERSION.exec(model) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor ?? 0)]
}

/** Whether a version is at least another one. */
export function isSince(version: Version | undefined, [major, minor]: Version): boolean {
  if (!version) return false
  return version[0] > major || (version[0] === major && version[1] >= minor)
}

/** Whether a model refuses system messages between others, but takes references to tools in results. */
export function takesReferencesOnly(model: string): boolean {
  const version = readVersion(model)
  if (/sonnet/.test(model) && isSince(version, [5, 0])) return !isSince(version, [5, 5])
  return isSince(version, [4, 5]) && !isSince(version, [4, 8])
}

/** Whether a model refuses or drops thinking if anything before it has changed. */
export function bindsThinking(model: string): boolean {
  return isSince(readVersion(model), /fable|mythos/.test(model) ? [5, 1] : [5, 5])
}
