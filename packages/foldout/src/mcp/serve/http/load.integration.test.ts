import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { getText, overHttp, type ClientKind } from '../clients.fixtures.ts'

const CLIENTS = 200
/** `npm run more -- whole` has both kinds of clients make as many calls. */
const { env } = import.meta as ImportMeta & { readonly env: { readonly MODE: string } }
const CALLS: Partial<Record<ClientKind, number>> = {
  'v1 client': env.MODE === 'whole' ? 32 : 4,
  'v2 client, modern': 32,
}

async function withServer(use: (url: string) => Promise<void>): Promise<void> {
  const child = fork(join(import.meta.dirname, 'load-server.fixtures.ts'), { execArgv: ['--import', 'tsx'] })
  try {
    const [{ url }] = (await once(child, 'message')) as [{ readonly url: string }]
    await use(url)
  } finally {
    child.kill()
  }
}

describe('many clients at once', () => {
  it.each<ClientKind>(['v1 client', 'v2 client, modern'])(
    'connect together as %s and lose no call',
    async (kind) => {
      await withServer(async (url) => {
        const clients = await Promise.all(Array.from({ length: CLIENTS }, () => overHttp(url, kind)))
        const asked = clients.flatMap((client, i) =>
          Array.from({ length: CALLS[kind] ?? 0 }, (_, j) => ({ client, text: `${i}/${j}` })),
        )
        const answers = await Promise.all(asked.map(({ client, text }) => client.call('echo', { text })))
        expect(answers.length).toBeGreaterThan(CLIENTS)
        expect(answers.map(getText)).toEqual(asked.map(({ text }) => text))
        await Promise.all(clients.map((client) => client.close()))
      })
    },
    180_000,
  )
})
