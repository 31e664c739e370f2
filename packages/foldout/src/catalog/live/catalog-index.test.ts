import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCatalogIndex, type CatalogIndex } from './catalog-index.ts'
import type { Searchable } from '../search/contract.ts'

const tool = (name: string, description: string): Searchable => ({
  qualified: `shop/${name}`,
  declared: name,
  name,
  title: undefined,
  description,
  source: 'shop',
  category: undefined,
  tags: [],
  inputSchema: { type: 'object' },
})

const findNames = async (index: CatalogIndex<Searchable>, query: string): Promise<readonly string[]> =>
  (await index.search(query)).hits.map((hit) => hit.tool.name)

afterEach(() => {
  vi.useRealTimers()
})

describe('an index whose code is loaded later', () => {
  it('has the tools that were added before the code, in their current state', async () => {
    const index = createCatalogIndex<Searchable>({ embed: false })
    index.add(tool('pay_invoice', 'Pays an invoice.'))
    index.add(tool('cancel_order', 'Cancels an order.'))
    index.add(tool('pay_bill', 'Pays an invoice.'))
    expect(index.remove('shop/pay_bill')).toBe(true)
    expect(index.remove('shop/pay_bill')).toBe(false)
    index.add(tool('cancel_order', 'Cancels an order and pays its invoice back.'))
    expect(await findNames(index, 'pay an invoice')).toEqual(['pay_invoice', 'cancel_order'])
  })

  it('accepts tools while the code is loading, and after', async () => {
    const index = createCatalogIndex<Searchable>({ embed: false })
    const first = findNames(index, 'pay an invoice')
    index.add(tool('pay_invoice', 'Pays an invoice.'))
    expect(await first).toEqual(['pay_invoice'])
    expect(index.remove('shop/pay_invoice')).toBe(true)
    index.add(tool('settle_invoice', 'Pays an invoice.'))
    index.wake()
    expect(await findNames(index, 'pay an invoice')).toEqual(['settle_invoice'])
    expect(await index.explain('pay an invoice', 'shop/pay_invoice')).toBeUndefined()
  })

  it('does not wait for a clock that a test has stopped', async () => {
    vi.useFakeTimers()
    const index = createCatalogIndex<Searchable>({ embed: false })
    index.add(tool('pay_invoice', 'Pays an invoice.'))
    expect(await findNames(index, 'pay an invoice')).toEqual(['pay_invoice'])
  })
})

describe('an index that is created by the first search', () => {
  it('is not created ahead of time, and finds the same tools', async () => {
    const [whenLazy, whenAhead] = [vi.fn(() => true), vi.fn(() => true)]
    const watch = (isDone: () => boolean) => ({ embed: false as const, preparation: { isDone, work: () => 1 } })
    const lazy = createCatalogIndex<Searchable>(watch(whenLazy), 'search')
    const ahead = createCatalogIndex<Searchable>(watch(whenAhead))
    for (const index of [lazy, ahead]) {
      index.add(tool('pay_invoice', 'Pays an invoice.'))
      index.wake()
    }
    await vi.waitFor(() => expect(whenAhead).toHaveBeenCalled())
    expect(whenLazy).not.toHaveBeenCalled()
    expect(await findNames(lazy, 'pay an invoice')).toEqual(['pay_invoice'])
  })
})
