import { getStem, getWords } from './words.ts'

/**
 * Actions, and the words for each. Sibling tools such as `user_create`, `user_get` and `user_delete` differ only in their action, and
 * people who want something removed do not always say "delete". A word may be on several lines.
 */
const ACTIONS: readonly string[] = [
  'get show list view display retrieve fetch read describe detail inspect check what which see tell give return enumerate provide know find look lookup pull print open listing current status info information many is are',
  'search find look lookup discover browse query explore seek locate where',
  'create add new make insert register build generate provision deploy setup append write post open save store persist record compose draft remember memorize note',
  'update modify change edit set rename configure adjust patch put replace alter extend increase decrease move resize upgrade enable turn assign',
  'delete remove drop erase clear destroy purge rid discard eliminate unset unassign detach revoke forget',
  'send email message text notify share post forward reply publish',
  'book reserve buy purchase order rent schedule',
  'run execute start launch trigger invoke perform play call restart',
  'stop cancel abort disable pause end terminate kill close',
  'convert translate transform change parse',
  'calculate compute estimate how many solve evaluate',
  'check validate verify test confirm diagnose is',
  'compare difference diff versus',
]

/** The lines of deleting and of stopping. */
const ENDING =
  (1 << ACTIONS.findIndex((words) => words.startsWith('delete '))) |
  (1 << ACTIONS.findIndex((words) => words.startsWith('stop ')))

let actionsByStem: ReadonlyMap<string, number> | undefined

/** Gets the actions that a word can mean, with one bit for each. The table is built on first use, to keep importing fast. */
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

/** How many words at the beginning of a description are searched for an action. */
const OPENING = 3

/** Gets the actions of a tool, with one bit for each, from its name or else from the beginning of its description. */
export function getToolActions(name: string, description: string): number {
  return getActions(getWords(name)) || getActions(getWords(description.slice(0, 80)).slice(0, OPENING))
}

/** Finds the first word of a request that means an action, and the actions that it can mean. */
export function findAskedAction(request: string): { readonly word: string; readonly actions: number } | undefined {
  for (const word of getWords(request)) {
    const actions = getWordActions(word)
    if (actions !== 0) return { word, actions }
  }
  return undefined
}

/** Gets all actions that the words of a request can mean, with one bit for each. */
export function getMentionedActions(request: string): number {
  return getActions(getWords(request))
}

/**
 * Whether all that a tool does is to delete or stop something, while a request mentions other actions only, or only the other of
 * these two. Vectors hardly see the difference, and nobody wants something deleted without saying so.
 */
export function isUnaskedEnd(ofTool: number, mentioned: number): boolean {
  return mentioned !== 0 && isEnd(ofTool) && (ofTool & mentioned) === 0
}

/** Whether actions are only those of deleting and stopping. */
export function isEnd(actions: number): boolean {
  return actions !== 0 && (actions & ~ENDING) === 0
}

/** Finds the first word that means one of the actions. */
export function findActionWord(actions: number, words: readonly string[]): string | undefined {
  return words.find((word) => (getWordActions(word) & actions) !== 0)
}

function getActions(words: readonly string[]): number {
  return words.reduce((actions, word) => actions | getWordActions(word), 0)
}

export function isActionWord(word: string): boolean {
  return getWordActions(word) !== 0
}
