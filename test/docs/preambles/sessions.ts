import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineSlice } from 'foldout'

export const file = join(mkdtempSync(join(tmpdir(), 'foldout-docs-')), 'sessions.db')
export const cart = defineSlice({
  name: 'cart',
  initial: { items: [] as readonly string[] },
  reducers: { added: (state, item: string) => ({ items: [...state.items, item] }) },
})
