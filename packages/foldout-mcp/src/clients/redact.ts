import { isDeepStrictEqual } from 'node:util'
import { HIDDEN, hideInUrl, SECRET_NAME, SECRET_VALUE, VARIABLE } from '../shared/secret-text.ts'
import type { ServerAuthDefinition, ServerDefinition } from '../gateway/config/definition.ts'

/** A server without its secrets, for display. */
export function hideSecrets(server: ServerDefinition): ServerDefinition {
  const { args, env, headers, url, command, auth } = server
  return {
    ...server,
    ...(command !== undefined && { command: hideInArgument(command) }),
    ...(args && { args: hideInArguments(args.map(String)) }),
    ...(env && { env: hideValues(env) }),
    ...(headers && { headers: hideValues(headers) }),
    ...(auth && { auth: { ...auth, ...hideValues(pickSecrets(auth)) } }),
    ...(url !== undefined && { url: hideInUrl(url) }),
  }
}

/** Whether a server's settings contain a secret, and not only references to variables. */
export function hasSecrets(server: ServerDefinition): boolean {
  const env = Object.entries(server.env ?? {}).filter(
    ([name, value]) => SECRET_NAME.test(name) || SECRET_VALUE.test(String(value)),
  )
  const told = { ...server, ...(server.env && { env: Object.fromEntries(env) }) }
  const plain = { ...told, ...(told.args && { args: told.args.map(String) }) }
  return !isDeepStrictEqual(hideSecrets(plain), plain)
}

function pickSecrets(auth: ServerAuthDefinition): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(auth).filter(([name]) => /secret|^privateKey$/i.test(name)))
}

/** Hides every value except references to variables. */
function hideValues(record: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, VARIABLE.test(String(value)) ? String(value) : HIDDEN]),
  )
}

function hideInArguments(args: readonly string[]): readonly string[] {
  return args.map((arg, i) => {
    const before = args[i - 1] ?? ''
    const isValue = before.startsWith('-') && !before.includes('=') && !arg.startsWith('-')
    if (isValue && SECRET_NAME.test(before) && !VARIABLE.test(arg)) return HIDDEN
    return hideInArgument(arg)
  })
}

function hideInArgument(arg: string): string {
  if (VARIABLE.test(arg)) return arg
  const pair = /^(-{0,2}[\w.-]+)([=:]\s*)(.*)$/s.exec(arg)
  if (pair && SECRET_NAME.test(pair[1] ?? '') && !VARIABLE.test(pair[3] ?? '')) return `${pair[1]}${pair[2]}${HIDDEN}`
  if (SECRET_VALUE.test(arg)) return HIDDEN
  return hideInUrl(arg)
}
