import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sessionStoreSuite } from 'foldout/testing/suites'
import { expect, it } from 'vitest'
import { createMapStore } from './guide-store.ts'

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8')

it('R25 prints the store that is tested here', () => {
  const source = read('guide-store.ts')
  const printed = source.slice(source.indexOf('function createMapStore'))
  expect(read('../../docs/guide/extending.md')).toContain(printed)
})

sessionStoreSuite('the store of the guide', async () => createMapStore(new Map()))
