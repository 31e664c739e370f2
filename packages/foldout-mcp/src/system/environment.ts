/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable. On Windows, upper and lower case make no difference, except in a copy of the variables. */
export function getVariable(
  env: Environment,
  name: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (Object.hasOwn(env, name) || platform !== 'win32') {
    if (Object.hasOwn(env, name)) return env[name]
    return undefined
  }
  const wanted = name.toUpperCase()
  const found = Object.keys(env).find((key) => key.toUpperCase() === wanted)
  if (found === undefined) return undefined
  return env[found]
}

/**
 * Joins variables, of which later ones replace earlier ones. On Windows, `Path` replaces `PATH`: a process that got both would use the
 * first one in the order of the alphabet.
 */
export function joinEnvironments(
  parts: readonly Readonly<Record<string, string>>[],
  platform: NodeJS.Platform = process.platform,
): Readonly<Record<string, string>> {
  if (platform !== 'win32') return Object.assign({}, ...parts) as Record<string, string>
  const joined = new Map<string, [name: string, value: string]>()
  for (const part of parts) for (const entry of Object.entries(part)) joined.set(entry[0].toUpperCase(), entry)
  return Object.fromEntries(joined.values())
}

const INHERITED = {
  windows:
    'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE WINDIR',
  others: 'HOME LOGNAME PATH SHELL TERM USER',
}

/** The variables of this process that every MCP server gets, as with the official SDK. Others may be secret. */
export function getInheritedVariables(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): Readonly<Record<string, string>> {
  const names = (platform === 'win32' ? INHERITED.windows : INHERITED.others).split(' ')
  const found: Record<string, string> = {}
  for (const name of names) {
    const value = getVariable(env, name, platform)
    // Old shells kept functions in variables.
    if (value !== undefined && !value.startsWith('()')) found[name] = value
  }
  return found
}
