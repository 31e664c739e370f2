import type { Searchable } from '../contract.ts'
import { getNameKeys } from '../lexical/named.ts'
import { MAX_FIELD_WORDS } from '../limits.ts'
import { getToolActions } from './actions.ts'
import { FIELDS, getFieldTexts } from './tool-text.ts'
import { getTerms } from './words.ts'

/** What the index keeps of a tool's texts. */
export interface ToolTerms {
  /** The stems of each field, in the order of `FIELDS`. */
  readonly fields: readonly (readonly string[])[]
  /** What the tool does, with one bit for each action. */
  readonly actions: number
  readonly nameKeys: ReadonlySet<string>
  /** How long the texts are. */
  readonly characters: number
}

const NAME = FIELDS.indexOf('name')

/** Reads a tool before any part of it is indexed, so that an unreadable tool leaves nothing behind. */
export function readToolTerms(tool: Searchable): ToolTerms {
  const texts = getFieldTexts(tool)
  return {
    fields: texts.map((text) => getTerms(text).slice(0, MAX_FIELD_WORDS)),
    actions: getToolActions(texts[NAME] ?? '', tool.description),
    nameKeys: getNameKeys(tool),
    characters: texts.reduce((sum, text) => sum + text.length, 0),
  }
}
