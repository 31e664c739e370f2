import { createFault } from '../contract/fault.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { findSizeFault } from '../../core/json/measure.ts'
import { isObject } from 'foldout-shared/values'
import { MAX_JSON_DEPTH } from '../../core/json/limits.ts'
import { compilePattern } from '../../core/pattern/pattern.ts'
import { nearest, shorten } from '../../core/text.ts'
import type { CompareCase } from '../contract/cases.ts'
import { createPatternError } from '../grade/graders.ts'
import { MAX_CASE_CHARACTERS, MAX_CASES, MAX_CASES_BYTES, MAX_ID_CHARACTERS, MAX_TURNS } from './limits.ts'

/**
 * Reads a file of cases: one case to a line, as JSON. Empty lines do not matter.
 *
 * @example
 * ```ts
 * const cases = await readCases('cases.jsonl')
 * ```
 *
 * @throws FoldoutError with the code `compare-invalid`, which names the line.
 */
export async function readCases(path: string): Promise<readonly CompareCase[]> {
  const text = await readText(path)
  const found: (readonly [place: string, value: unknown])[] = []
  for (const [i, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue
    found.push([`Line ${i + 1} of '${path}'`, readLine(line, `Line ${i + 1} of '${path}'`)])
    if (found.length > MAX_CASES) break
  }
  if (found.length === 0)
    throw createFault(
      `'${path}' has no cases. Write one to a line, such as {"id": "refund", "input": "Refund order 17."}.`,
    )
  return checkEach(found)
}

/** Checks cases that come from a program, which may be JavaScript. */
export function checkCases(cases: unknown): readonly CompareCase[] {
  if (!Array.isArray(cases) || cases.length === 0)
    throw createFault('There are no cases. Pass a list with at least one, or the path of a file.')
  return checkEach(cases.map((one, i) => [`cases[${i}]`, one]))
}

async function readText(path: string): Promise<string> {
  const { readFile, stat } = await import('node:fs/promises')
  try {
    const { size } = await stat(path)
    if (size <= MAX_CASES_BYTES) return await readFile(path, 'utf8')
  } catch (error) {
    throw createFault(
      `The cases in '${path}' cannot be read: ${getErrorMessage(error)}. Name a file with one case to a line.`,
    )
  }
  throw createFault(`'${path}' has more than ${MAX_CASES_BYTES} bytes. Compare fewer cases.`)
}

function readLine(line: string, place: string): unknown {
  if (line.length > MAX_CASE_CHARACTERS)
    throw createFault(`${place} has ${line.length} characters. A case may have ${MAX_CASE_CHARACTERS}.`)
  try {
    return JSON.parse(line)
  } catch (error) {
    throw createFault(
      `${place} is not valid JSON: ${shorten(getErrorMessage(error), 200)}. Write each case on one line.`,
    )
  }
}

function checkEach(found: readonly (readonly [place: string, value: unknown])[]): readonly CompareCase[] {
  if (found.length > MAX_CASES) throw createFault(`There are more than ${MAX_CASES} cases. Compare fewer.`)
  const places = new Map<string, string>()
  return found.map(([place, value]) => {
    const one = checkCase(value, place)
    const earlier = places.get(one.id)
    if (earlier !== undefined)
      throw createFault(
        `${place} has the id '${shorten(one.id)}', which ${earlier} has already. Give each case its own.`,
      )
    places.set(one.id, place)
    return one
  })
}

interface Rule {
  readonly expected: string
  fits(value: unknown): boolean
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const aText: Rule = { expected: 'a text', fits: isText }
const texts: Rule = { expected: 'a list of texts', fits: isTexts }
const anything: Rule = { expected: 'JSON', fits: () => true }
const CALLS = 'a list of calls, such as [{"name": "refund_order", "arguments": {"order": 17}}]'

const FIELDS: Readonly<Record<keyof CompareCase, Rule>> = {
  id: {
    expected: `a text of 1 to ${MAX_ID_CHARACTERS} characters`,
    fits: (id) => isText(id) && id !== '' && id.length <= MAX_ID_CHARACTERS,
  },
  input: aText,
  turns: {
    expected: `a list of 1 to ${MAX_TURNS} texts`,
    fits: (turns) => isTexts(turns) && (turns as unknown[]).length > 0 && (turns as unknown[]).length <= MAX_TURNS,
  },
  user: aText,
  conversation: aText,
  needs: texts,
  calls: { expected: CALLS, fits: (calls) => Array.isArray(calls) && calls.every(isCall) },
  includes: { expected: 'a text or a list of texts', fits: (value) => isText(value) || isTexts(value) },
  matches: aText,
  output: anything,
  state: anything,
  data: anything,
}

function isCall(call: unknown): boolean {
  if (!isObject(call) || !isText(call['name'])) return false
  const names = Object.keys(call).filter((name) => name !== 'name' && name !== 'arguments')
  return names.length === 0 && (call['arguments'] === undefined || isObject(call['arguments']))
}

function checkCase(value: unknown, place: string): CompareCase {
  if (!isObject(value))
    throw createFault(`${place} is not an object. Write {"id": "refund", "input": "Refund order 17."}.`)
  const fault = findSizeFault(value, { maxBytes: 6 * MAX_CASE_CHARACTERS, maxDepth: MAX_JSON_DEPTH })
  if (fault?.type === 'deep') throw createFault(`${place} is nested more than ${MAX_JSON_DEPTH} levels deep.`)
  if (fault?.type === 'large') throw createFault(`${place} is larger than ${MAX_CASE_CHARACTERS} characters.`)
  if (fault) throw createFault(`${place} contains ${fault.what}. Use JSON only.`)
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(FIELDS, name)) continue
    const [near] = nearest(name, Object.keys(FIELDS), 1)
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`
    throw createFault(
      `${place} has a field '${shorten(name)}', which cases do not have.${hint} Put what is your own into data.`,
    )
  }
  if (value['id'] === undefined) throw createFault(`${place} has no id. Give each case its own.`)
  for (const [name, { expected, fits }] of Object.entries(FIELDS)) {
    if (value[name] === undefined || fits(value[name])) continue
    throw createFault(`${place} has a field '${name}' that is not ${expected}.`)
  }
  const one = value as unknown as CompareCase
  if (one.input !== undefined && one.turns !== undefined)
    throw createFault(`${place} has both input and turns. Put the input first into turns.`)
  const compiled = compilePattern(one.matches ?? '')
  if (!('pattern' in compiled)) throw createPatternError(one, compiled.message)
  return one
}
