import { expect, it } from 'vitest'
import { UsageError } from '../../config/config.ts'
import { openSharedDatabase } from './database.ts'

const open = (url: string, schema?: string): Promise<unknown> =>
  openSharedDatabase({ url, schema, patienceMs: 0, onProblem: () => undefined }).catch((error: unknown) => error)

it('R65 a database that is only unreachable is not a mistake of the user', async () => {
  const away = await open('postgres://ada:very-secret-word@127.0.0.1:1/x')
  expect(away).toBeInstanceOf(Error)
  expect(away).not.toBeInstanceOf(UsageError)
  expect(String(away)).toMatch(/The store cannot be used\. (?!.*very-secret-word)/)
  expect(await open('postgres://ada@127.0.0.1:1/x', 'No Schema')).toBeInstanceOf(UsageError)
})
