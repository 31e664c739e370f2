import type { Surroundings } from './session.ts'
import { createStyler, shorten, toLine } from './text.ts'

/** Shows on a terminal what a slow step is doing. Elsewhere, and with `--quiet`, it shows nothing. */
export interface Progress {
  /** Standard error, for lines that are written while progress is shown. */
  readonly stream: Surroundings['stderr']
  /** Shows a line, which is asked for again and again, until the work is done. */
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
      ...(stderr.columns === undefined ? {} : { columns: stderr.columns }),
      write(text) {
        clear()
        return stderr.write(text)
      },
    },
    async during(getLine, work) {
      let frame = 0
      const draw = (): void => {
        // One column stays free, because some terminals wrap a full line.
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
