const { exit } = process
let running = 0

/**
 * Runs code of the user while it cannot end this program: a configuration that did would leave the client of a gateway
 * without a word about the reason.
 */
export async function runUserCode<Result>(run: () => Promise<Result>): Promise<Result> {
  running += 1
  process.exit = refuseExit
  try {
    return await run()
  } finally {
    running -= 1
    if (running === 0) process.exit = exit
  }
}

function refuseExit(code?: number | string | null): never {
  throw new Error(`process.exit(${code ?? ''}) would end this program while it loads the file. Remove the call.`)
}
