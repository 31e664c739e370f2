/** The values that texts of a configuration may refer to. */
export interface Variables {
  readonly env: NodeJS.ProcessEnv
  /** The client's working folder. */
  readonly root: string | undefined
}

/** `${NAME}` and `${NAME:-default}`. A default cannot contain braces, so that matching takes linear time. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g
const ROOT = /\$\{ROOT(?::-[^{}]*)?\}/

/**
 * Fills in variables, as MCP clients do.
 *
 * @throws Error if one is not set and has no default.
 */
export function fillVariables(text: string, { env, root }: Variables): string {
  return text.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const given = Object.hasOwn(env, name) ? env[name] : undefined
    const value = (name === 'ROOT' ? root : undefined) ?? (given || fallback)
    if (value !== undefined) return value
    if (name === 'ROOT')
      throw new Error('It needs ${ROOT}, the working folder of the client, but the client does not name one.')
    throw new Error(`The environment variable ${name} is not set.`)
  })
}

/** Whether a text depends on the folder of the client. */
export function usesRoot(text: string): boolean {
  return ROOT.test(text)
}
