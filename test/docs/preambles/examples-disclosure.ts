import type { ToolSuccess } from 'foldout'
import type { DisclosureView, Opening } from 'foldout/disclosure'

export declare const view: DisclosureView
export declare const key: string
export declare const offered: readonly string[]
export declare const result: ToolSuccess & { readonly opening: Opening }
