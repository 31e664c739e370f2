/** `${NAME}` and `${NAME:-default}`. */
const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g

/** Fills in environment variables, as clients of MCP do. Throws for one that is not set and has no default. */
export function fillVariables(text: string, env: NodeJS.ProcessEnv): string {
  return text.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = env[name] || fallback
    if (value === undefined) throw new Error(`The environment variable ${name} is not set.`)
    return value
  })
}
