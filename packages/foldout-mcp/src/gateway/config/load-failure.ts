/** How the compiler reports a mistake: what is wrong, and the file, line and column below it. On Windows, it puts a drive in front. */
const PARSE_ERROR = /^ParseError: (?:[A-Z]:\\: )?([^\n]*)\n *([^\n]*):(\d+):\d+ *$/i

/** Says why a module of the user cannot be loaded, and in which line the reason is. */
export function describeLoadFailure(path: string, error: unknown): string {
  if (!(error instanceof Error)) return `It throws ${String(error)}.`
  // The compiler separates folders in this way on all systems.
  const own = path.replaceAll('\\', '/')
  const [, mistake, file = own, line] = PARSE_ERROR.exec(error.message) ?? []
  // The lines below the first one list the modules that import each other.
  const [first = ''] = (mistake ?? error.message).split('\n')
  const reason = `${first.trim().replace(/\.$/, '')}.`
  const at = line ?? findLine(own, error)
  if (at === undefined) return reason
  return `Line ${at}${file === own ? '' : ` of ${file}`}: ${reason}`
}

/** The line of the file in which an error was thrown. */
function findLine(path: string, { stack = '' }: Error): string | undefined {
  const start = stack.indexOf(`${path}:`)
  if (start === -1) return undefined
  return /^\d+/.exec(stack.slice(start + path.length + 1))?.[0]
}
