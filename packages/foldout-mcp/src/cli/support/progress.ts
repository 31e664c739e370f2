import type { Surroundings } from './surroundings.ts'
import { createStyler, shorten, toLine } from './text.ts'

/** Shows the progress of a slow step on a terminal. Elsewhere, and with `--quiet`, shows nothing. */
export interface Progress {
  /** Standard error, for lines written while progress is shown. */
  readonly stream: Surroundings['stderr']
  /** Shows a line until the work is done, and calls `getLine` for every refresh. */
  during<Result>(getLine: () => string, work: () => Promise<Result>): Promise<Result>
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
/** Goes to the first column and clears the line. */
const CLEAR = '\r\u001B[2K'

export function createProgress(
  { stderr, env }: Pick<Surroundings, 'stderr' | 'env'>,
  { quiet = false }: { readonly quiet?: boolean },
): Progress {
  if (stderr.isTTY !== true || quiet || env['TERM'] === 'dumb')
    return { stream: stderr, during: (_getLine, work) => work() }
  const style = createStyler(stderr, env)
  let isShown = false
  const clear = (): void => {
    if (isShown) stderr.write(CLEAR)
    isShown = false
  }
  return {
    stream: {
      isTTY: true,
      ...(stderr.columns !== undefined && { columns: stderr.columns }),
      write(text) {
        clear()
        return stderr.write(text)
      },
    },
    async during(getLine, work) {
      let frame = 0
      const draw = (): void => {
        // Leave one column free, because some terminals wrap a full line.
        const line = shorten(`${FRAMES[frame++ % FRAMES.length]} ${toLine(getLine())}`, (stderr.columns ?? 80) - 1)
        stderr.write(`${CLEAR}${style('dim', line)}`)
        isShown = true
      }
      const timer = setInterval(draw, FRAME_MS)
      try {
        return await work()
      } finally {
        clearInterval(timer)
        clear()
      }
    },
  }
}
