import type { Program } from './program.ts'

/** A set of program positions that were reached together, with the transitions known so far. */
interface State {
  /** The instructions that wait for a character. */
  readonly waiting: readonly number[]
  readonly isMatch: boolean
  /** Transitions by character code below 256, at places without any bit. */
  readonly quick: (State | undefined)[]
  /** Transitions by character and the bits of the place after it. */
  readonly next: Map<number, State>
}

/**
 * Counts down the steps of one match, or of several matches that share a limit.
 *
 * @example
 * ```ts
 * const steps: PatternSteps = { left: 1_000_000 }
 * ```
 */
export interface Steps {
  left: number
}

/** Thrown when the steps of a match are used up. */
export class OutOfSteps extends Error {}

const QUICK_CODES = 256
const MAX_STATES = 2_000
const BITS = 2 ** 27

/**
 * Runs a program by following all alternatives at once, so the time is at most the length of the text times the size of
 * the program. Transitions between sets of positions are cached, so most characters cost one lookup.
 */
export class Machine {
  private states = new Map<string, State>()
  private transitions = 0
  private readonly marks: Uint32Array
  private generation = 0

  readonly program: Program

  constructor(program: Program) {
    this.program = program
    this.marks = new Uint32Array(program.instructions.length)
  }

  /** The state before the first character. A match can start anywhere. */
  start(bits: number, steps: Steps): State {
    return this.close([], bits, steps)
  }

  /** Returns the state after one more character, at a place with the given bits. */
  step(state: State, code: number, bits: number, steps: Steps): State {
    steps.left -= 1
    if (steps.left < 0) throw new OutOfSteps()
    if (bits === 0 && code < QUICK_CODES) {
      const known = state.quick[code]
      if (known) return known
      const next = this.advance(state, code, bits, steps)
      state.quick[code] = next
      return next
    }
    const key = code * BITS + bits
    const known = state.next.get(key)
    if (known) return known
    const next = this.advance(state, code, bits, steps)
    this.transitions += 1
    if (this.transitions > MAX_STATES * 10) this.forget()
    state.next.set(key, next)
    return next
  }

  private advance(state: State, code: number, bits: number, steps: Steps): State {
    const { instructions } = this.program
    const reached: number[] = []
    for (const at of state.waiting) {
      const instruction = instructions[at]
      if (instruction?.kind === 'character' && instruction.test(code)) reached.push(at + 1)
    }
    steps.left -= state.waiting.length
    return this.close(reached, bits, steps)
  }

  /** Follows all instructions that consume no character. */
  private close(reached: readonly number[], bits: number, steps: Steps): State {
    const { instructions } = this.program
    this.generation += 1
    const waiting: number[] = []
    let isMatch = false
    const open = [...reached, 0]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (at < 0 || this.marks[at] === this.generation) continue
      this.marks[at] = this.generation
      steps.left -= 1
      const instruction = instructions[at]
      if (instruction?.kind === 'split') open.push(instruction.second, instruction.first)
      else if (instruction?.kind === 'match') isMatch = true
      else if (instruction?.kind === 'character') waiting.push(at)
      else if (instruction && ((bits & instruction.bit) !== 0) !== instruction.isNegative) open.push(at + 1)
    }
    if (steps.left < 0) throw new OutOfSteps()
    return this.intern(waiting, isMatch)
  }

  private intern(waiting: number[], isMatch: boolean): State {
    waiting.sort((a, b) => a - b)
    const key = `${isMatch ? '!' : ''}${waiting.join()}`
    const known = this.states.get(key)
    if (known) return known
    if (this.states.size === MAX_STATES) this.forget()
    const state: State = { waiting, isMatch, quick: [], next: new Map() }
    this.states.set(key, state)
    return state
  }

  /** Clears the cache, so no text can make it grow without bound. States in use stay valid. */
  private forget(): void {
    for (const state of this.states.values()) {
      state.quick.length = 0
      state.next.clear()
    }
    this.states = new Map()
    this.transitions = 0
  }
}
