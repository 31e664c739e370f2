import type { PromptOverrides } from 'foldout/overrides'

export const overrides: PromptOverrides = { sections: { missing: { hash: 'abc', body: 'New text.' } } }
