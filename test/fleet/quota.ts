// Four processes take from one quota as fast as they can: `npm run kill -- --kills 0 --waiting 0 --quota 10`.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createQuotas } from '../../packages/foldout-mcp/src/gateway/policy/quotas/quotas.ts'
import { openPostgresStore } from '../../packages/foldout-mcp/src/gateway/store/postgres/store.ts'

const PROCESSES = 4
const CALLS = 1_000
/** How far the total number of calls may be from the quota. */
const TOLERANCE = 0.01

interface Taken {
  readonly calls: number
  readonly startedAt: number
  readonly endedAt: number
}

/** Returns the problems. */
export async function shareQuota(
  url: string,
  seconds: number,
  log: (line: string) => void,
): Promise<readonly string[]> {
  const program = fileURLToPath(import.meta.url)
  const all = await Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const child = spawn(process.execPath, [...process.execArgv, program, url, String(seconds)])
      let output = ''
      child.stdout.on('data', (data) => (output += String(data)))
      child.stderr.pipe(process.stderr)
      await new Promise((resolve) => child.once('close', resolve))
      return JSON.parse(output) as Taken
    }),
  )
  const calls = all.reduce((sum, taken) => sum + taken.calls, 0)
  const elapsed = Math.max(...all.map(({ endedAt }) => endedAt)) - Math.min(...all.map(({ startedAt }) => startedAt))
  const allowed = CALLS + (elapsed / 1_000) * CALLS
  const error = calls / allowed - 1
  log(`${calls} calls in ${Math.round(elapsed)} ms, of ${Math.round(allowed)} allowed: ${(error * 100).toFixed(2)} %`)
  return Math.abs(error) <= TOLERANCE ? [] : [`The quota was missed by ${(error * 100).toFixed(2)} %.`]
}

/** Takes as many tokens as it can. Several calls wait at a time, like those of clients. */
async function takeTokens(url: string, seconds: number): Promise<Taken> {
  const onProblem = (message: string): void => void process.stderr.write(`${message}\n`)
  const store = await openPostgresStore({ url, schema: undefined, key: undefined, keyFile: undefined, onProblem })
  const quotas = createQuotas(store.quotas)
  quotas.update([{ calls: CALLS, per: 'second', each: 'server' }])
  const tool = { preset: '', server: 'shop', names: ['count'], annotations: undefined }
  const startedAt = Date.now()
  let calls = 0
  const work = async (): Promise<void> => {
    while (Date.now() - startedAt < seconds * 1_000) {
      const refusal = await quotas.take({ client: undefined, user: undefined }, tool)
      if (refusal === undefined) calls++
      else await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  const endedAt = Date.now()
  await quotas.close()
  await store.close()
  return { calls, startedAt, endedAt }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(JSON.stringify(await takeTokens(process.argv[2] ?? '', Number(process.argv[3]))))
