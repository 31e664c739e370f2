import type { PromptOverrides } from 'foldout/overrides'

export declare const overrides: PromptOverrides
