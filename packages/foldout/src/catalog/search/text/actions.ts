import { getStem, getWords } from './words.ts'

/**
 * What can be done, and the words for it. Siblings such as `user_create`, `user_get` and `user_delete` differ in nothing
 * else, and people who want something removed do not always say "delete". A word may be in several lines.
 */
const ACTIONS: readonly string[] = [
  'get show list view display retrieve fetch read describe detail inspect check what which see tell give return enumerate provide know find look lookup pull print listing current status info information many is are',
  'search find look lookup discover browse query explore seek locate where',
  'create add new make insert register build generate provision deploy setup append write post open save store persist record compose draft',
  'update modify change edit set rename configure adjust patch put replace alter extend increase decrease move resize upgrade enable turn assign',
  'delete remove drop erase clear destroy purge rid discard eliminate unset unassign detach cancel revoke',
  'send email message text notify share post forward reply publish',
  'book reserve buy purchase order rent schedule',
  'run execute start launch trigger invoke perform play call restart',
  'stop cancel abort disable pause end terminate kill close',
  'convert translate transform change parse',
  'calculate compute estimate how many solve evaluate',
  'check validate verify test confirm diagnose is',
  'compare difference diff versus',
]

let actionsByStem: ReadonlyMap<string, number> | undefined

/** What a word stands for, one bit for each action. The table is made at the first use, so that importing stays quick. */
function getWordActions(word: string): number {
  actionsByStem ??= createTable()
  return actionsByStem.get(getStem(word)) ?? 0
}

function createTable(): ReadonlyMap<string, number> {
  const table = new Map<string, number>()
  for (const [action, words] of ACTIONS.entries()) {
    for (const stem of words.split(' ').map(getStem)) table.set(stem, (table.get(stem) ?? 0) | (1 << action))
  }
  return table
}

/** How many words a description may begin with before it says what the tool does. */
const OPENING = 3

/** What a tool does, one bit for each action: as its name says, or else as its description begins. */
export function getToolActions(name: string, description: string): number {
  return getActions(getWords(name)) || getActions(getWords(description.slice(0, 80)).slice(0, OPENING))
}

/** The first word of a request for something to do, and which actions it may stand for. */
export function findAskedAction(request: string): { readonly word: string; readonly actions: number } | undefined {
  for (const word of getWords(request)) {
    const actions = getWordActions(word)
    if (actions !== 0) return { word, actions }
  }
  return undefined
}

/** The first of some words that stands for one of some actions. */
export function findActionWord(actions: number, words: readonly string[]): string | undefined {
  return words.find((word) => (getWordActions(word) & actions) !== 0)
}

function getActions(words: readonly string[]): number {
  return words.reduce((actions, word) => actions | getWordActions(word), 0)
}

export function isActionWord(word: string): boolean {
  return getWordActions(word) !== 0
}
