import { join } from 'node:path'
import { defineSlice } from 'foldout'
import { createTemporaryFolder } from '../../temporary-folder.ts'

export const file = join(createTemporaryFolder('foldout-docs-'), 'sessions.db')
export const cart = defineSlice({
  name: 'cart',
  initial: { items: [] as readonly string[] },
  reducers: { added: (state, item: string) => ({ items: [...state.items, item] }) },
})
