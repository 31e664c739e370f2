import { getErrorMessage } from '../errors.ts'
import { MAX_PATTERN_LENGTH, MAX_PATTERN_STEPS } from './limits.ts'
import { Machine, OutOfSteps, type Steps } from './machine.ts'
import { AT_BOUNDARY, AT_END, AT_START, FIRST_LOOK, compileProgram } from './program.ts'
import { UnsupportedPattern, nativeTest, parsePattern, type CharacterTest } from './syntax.ts'

/**
 * A foreign regular expression that matches in linear time.
 *
 * @example
 * ```ts
 * const hasMatch = (pattern: LinearPattern, lines: readonly string[]): boolean => lines.some((line) => pattern.test(line))
 * ```
 */
export interface LinearPattern {
  /**
   * Whether the pattern matches anywhere in a text, or `undefined` if that takes more steps than are left. Several tests can
   * share their steps. Default: {@link MAX_PATTERN_STEPS} for each test.
   */
  test(text: string, steps?: Steps): boolean | undefined
}

/**
 * A regular expression that can be run, or why it cannot.
 *
 * @example
 * ```ts
 * const explain = (compiled: CompiledPatternResult): string => ('problem' in compiled ? compiled.message : 'It can be run.')
 * ```
 */
export type CompiledPatternResult =
  | { readonly pattern: LinearPattern }
  /**
   * `invalid`: not a regular expression. `unsupported`: a valid regular expression that this engine cannot run in
   * linear time.
   */
  | { readonly problem: 'invalid' | 'unsupported'; readonly message: string }

export type { Steps }

/**
 * Options of `compilePattern`.
 *
 * @example
 * ```ts
 * const options: PatternOptions = { ignoreCase: true }
 * ```
 */
export interface PatternOptions {
  /** Whether uppercase and lowercase are the same. Default false. */
  readonly ignoreCase?: boolean
}

/**
 * Compiles a JavaScript regular expression so that no text can make it slow. Everything but back references is
 * supported, with the meaning it has in JavaScript. Patterns that are invalid only in Unicode mode are compiled without
 * it, as in browsers.
 *
 * @example
 * ```ts
 * const compiled = compilePattern('(a+)+$')
 * 'pattern' in compiled && compiled.pattern.test('a'.repeat(10_000) + 'b') // => false
 * ```
 */
export function compilePattern(source: string, options: PatternOptions = {}): CompiledPatternResult {
  if (source.length > MAX_PATTERN_LENGTH)
    return { problem: 'unsupported', message: `is longer than ${MAX_PATTERN_LENGTH} characters` }
  const caseFlag = options.ignoreCase ? 'i' : ''
  const accepted = findFlags(source, [`u${caseFlag}`, caseFlag])
  if ('message' in accepted) return { problem: 'invalid', message: accepted.message }
  try {
    const { main, looks } = compileProgram(parsePattern(source, accepted.flags))
    const text = { isWord: nativeTest('\\w', accepted.flags), isUnicode: accepted.flags.includes('u') }
    const machines = looks.map((program) => new Machine(program))
    const search = new Search(new Machine(main), machines, text)
    return { pattern: { test: (input, steps = { left: MAX_PATTERN_STEPS }) => search.test(input, steps) } }
  } catch (error) {
    if (!(error instanceof UnsupportedPattern)) throw error
    return { problem: 'unsupported', message: error.message }
  }
}

function findFlags(
  source: string,
  choices: readonly string[],
): { readonly flags: string } | { readonly message: string } {
  let message = ''
  for (const flags of choices) {
    try {
      RegExp(source, flags)
      return { flags }
    } catch (error) {
      message = getErrorMessage(error)
    }
  }
  return { message }
}

interface TextMode {
  readonly isWord: CharacterTest
  /** Whether the code at a position is a whole code point, not half of a surrogate pair. */
  readonly isUnicode: boolean
}

class Search {
  private readonly main: Machine
  private readonly looks: readonly Machine[]
  private readonly mode: TextMode

  constructor(main: Machine, looks: readonly Machine[], mode: TextMode) {
    this.main = main
    this.looks = looks
    this.mode = mode
  }

  test(text: string, steps: Steps): boolean | undefined {
    try {
      // Inner lookarounds come first, so the outer ones can use their results.
      const held: Uint8Array[] = []
      for (const look of this.looks) held.push(this.findPlaces(look, text, held, steps))
      return this.run(this.main, { text, held, steps, onMatch: () => true })
    } catch (error) {
      if (error instanceof OutOfSteps) return undefined
      throw error
    }
  }

  /** Finds the places where the body of a lookaround matches: after the place for a lookahead, before it for a lookbehind. */
  private findPlaces(look: Machine, text: string, held: readonly Uint8Array[], steps: Steps): Uint8Array {
    const places = new Uint8Array(text.length + 1)
    const onMatch = (at: number): boolean => {
      places[at] = 1
      return false
    }
    this.run(look, { text, held, steps, onMatch })
    return places
  }

  /** Runs over a text until `onMatch` stops it. */
  private run(machine: Machine, run: Run): boolean {
    const { text, steps, onMatch } = run
    const { bits, isBackward } = machine.program
    let at = isBackward ? text.length : 0
    let state = machine.start(this.getBits(run, at, bits), steps)
    for (;;) {
      if (state.isMatch && onMatch(at)) return true
      if (isBackward ? at === 0 : at === text.length) return false
      const code = isBackward ? this.getCodeBefore(text, at) : this.getCodeAt(text, at)
      const length = code > 0xffff ? 2 : 1
      at += isBackward ? -length : length
      state = machine.step(state, code, bits === 0 ? 0 : this.getBits(run, at, bits), steps)
    }
  }

  /** Returns the bits that hold at a place, limited to those that a program uses. */
  private getBits({ text, held }: Run, at: number, asked: number): number {
    let bits = 0
    if (at === 0) bits |= AT_START
    if (at === text.length) bits |= AT_END
    if ((asked & AT_BOUNDARY) !== 0) {
      const isWordBefore = at > 0 && this.mode.isWord(this.getCodeBefore(text, at))
      const isWordAfter = at < text.length && this.mode.isWord(this.getCodeAt(text, at))
      if (isWordBefore !== isWordAfter) bits |= AT_BOUNDARY
    }
    for (const [index, places] of held.entries()) if (places[at] === 1) bits |= FIRST_LOOK << index
    return bits & asked
  }

  private getCodeAt(text: string, at: number): number {
    return (this.mode.isUnicode ? text.codePointAt(at) : text.charCodeAt(at)) ?? 0
  }

  private getCodeBefore(text: string, at: number): number {
    const unit = text.charCodeAt(at - 1)
    if (!this.mode.isUnicode || at < 2 || (unit & 0xfc00) !== 0xdc00) return unit
    const whole = text.codePointAt(at - 2) ?? unit
    if (whole > 0xffff) return whole
    return unit
  }
}

interface Run {
  readonly text: string
  /** For each lookaround done so far, the places where it holds. */
  readonly held: readonly Uint8Array[]
  readonly steps: Steps
  readonly onMatch: (at: number) => boolean
}
