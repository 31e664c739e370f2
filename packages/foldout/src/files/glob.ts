import { compilePattern } from '../core/pattern/pattern.ts'
import { MAX_GLOB_LENGTH } from './limits.ts'

/** Whether a path matches. A path on which the pattern would take too long does not match. */
export type PathMatcher = (path: string) => boolean

/**
 * Compiles a glob, or returns `undefined` if it is invalid. The glob becomes a regular expression that runs in linear
 * time, so neither stars nor braces make it slow.
 */
export function createPathMatcher(glob: string): PathMatcher | undefined {
  if (glob === '' || glob.length > MAX_GLOB_LENGTH) return undefined
  const isNegated = glob.startsWith('!')
  const positive = (isNegated ? glob.slice(1) : glob).replace(/^(?:\.\/)+/, '')
  const compiled = compilePattern(`^(?:${toSource(positive)})$`)
  if ('problem' in compiled) return undefined
  return (path) => (compiled.pattern.test(path) ?? isNegated) !== isNegated
}

/** Translates a glob into the source of a regular expression. */
function toSource(glob: string): string {
  let source = ''
  let at = 0
  const closings = findClosings(glob)
  const open: number[] = []
  while (at < glob.length) {
    const character = glob.charAt(at)
    const isPartStart = at === 0 || /[/{,]/.test(glob.charAt(at - 1))
    if (character === '\\' && at + 1 < glob.length) {
      source += escapeLiteral(glob.charAt(at + 1))
      at += 2
    } else if (isPartStart && /^\*\*(?:\/|$|[,}])/.test(glob.slice(at, at + 3))) {
      // Any number of folders, or everything below.
      const isFolders = glob.charAt(at + 2) === '/'
      source += isFolders ? '(?:[^/]+/)*' : '[^]*'
      at += isFolders ? 3 : 2
    } else if (character === '*') {
      source += '[^/]*'
      while (glob.charAt(at) === '*') at += 1
    } else if (character === '?') {
      source += '[^/]'
      at += 1
    } else if (character === '[' && getClassEnd(glob, at) !== -1) {
      const end = getClassEnd(glob, at)
      source += getClass(glob.slice(at + 1, end))
      at = end + 1
    } else if (character === '{' && closings.has(at)) {
      open.push(closings.get(at) ?? -1)
      source += '(?:'
      at += 1
    } else if (character === '}' && open.at(-1) === at) {
      open.pop()
      source += ')'
      at += 1
    } else {
      source += character === ',' && open.length > 0 ? '|' : escapeLiteral(character)
      at += 1
    }
  }
  return source
}

/** Maps each opening brace to its closing brace. Unmatched braces are literal. */
function findClosings(glob: string): ReadonlyMap<number, number> {
  const closings = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < glob.length; at++) {
    const character = glob.charAt(at)
    if (character === '\\') at += 1
    else if (character === '{') open.push(at)
    else if (character === '}') {
      const start = open.pop()
      if (start !== undefined) closings.set(start, at)
    }
  }
  return closings
}

function getClassEnd(glob: string, start: number): number {
  const first = /[!^]/.test(glob.charAt(start + 1)) ? start + 2 : start + 1
  // A bracket at the very start belongs to the class.
  return glob.indexOf(']', first + 1)
}

function getClass(inside: string): string {
  const isNegated = /^[!^]/.test(inside)
  const members = (isNegated ? inside.slice(1) : inside).replaceAll(/[\\[\]^]/g, '\\$&')
  if (isNegated) return `[^${members}/]`
  if (canBeSlash(members)) return `(?!/)[${members}]`
  return `[${members}]`
}

/** Whether a range contains the slash, as `+-9` does. A class must not match it. */
function canBeSlash(members: string): boolean {
  try {
    return new RegExp(`[${members}]`, 'u').test('/')
  } catch {
    return false
  }
}

function escapeLiteral(character: string): string {
  if (/[\^$\\.*+?()[\]{}|/]/.test(character)) return `\\${character}`
  return character
}
