import { MAX_LOOKAROUNDS, MAX_PATTERN_SIZE } from './limits.ts'
import { UnsupportedPattern, type CharacterTest, type PatternNode } from './syntax.ts'

/** What a place in a text can be, as bits; the bits above say which lookarounds hold there. */
export const AT_START = 1
export const AT_END = 2
export const AT_BOUNDARY = 4
export const FIRST_LOOK = 8

/** One step of a program: takes a character, splits in two, checks the place, or says that the text matches. */
export type Instruction =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'check'; readonly bit: number; readonly isNegative: boolean }
  | { readonly kind: 'match' }

export interface Program {
  readonly instructions: readonly Instruction[]
  /** The bits of a place that some instruction asks for. */
  readonly bits: number
  /** Whether it reads a text from its end to its beginning. */
  readonly isBackward: boolean
}

export interface CompiledPattern {
  readonly main: Program
  /** The bodies of lookarounds, each after those inside it. */
  readonly looks: readonly Program[]
}

/** Turns a tree into programs: one for the pattern, and one for each lookaround in it. */
export function compileProgram(root: PatternNode): CompiledPattern {
  const looks: Program[] = []
  const budget = { left: MAX_PATTERN_SIZE }
  const main = compileBody(root, false, { looks, budget })
  return { main, looks }
}

interface Shared {
  readonly looks: Program[]
  readonly budget: { left: number }
}

function compileBody(root: PatternNode, isBackward: boolean, shared: Shared): Program {
  const instructions: Instruction[] = []
  let bits = 0

  const check = (bit: number, isNegative: boolean): void => {
    bits |= bit
    instructions.push({ kind: 'check', bit, isNegative })
  }
  const split = (): { first: number; second: number } => {
    const instruction = { kind: 'split' as const, first: instructions.length + 1, second: 0 }
    instructions.push(instruction)
    return instruction
  }
  const jump = (): { first: number; second: number } => {
    const instruction = split()
    instruction.second = -1
    return instruction
  }
  const emitChoice = (parts: readonly PatternNode[]): void => {
    const ends: { first: number }[] = []
    for (const [index, part] of parts.entries()) {
      if (index === parts.length - 1) {
        emit(part)
      } else {
        const either = split()
        emit(part)
        ends.push(jump())
        either.second = instructions.length
      }
    }
    for (const end of ends) end.first = instructions.length
  }
  const emitRepeat = (body: PatternNode, min: number, max: number): void => {
    for (let count = 0; count < min; count++) emit(body)
    if (max === Infinity) {
      const start = instructions.length
      const either = split()
      emit(body)
      jump().first = start
      either.second = instructions.length
      return
    }
    const ends: { second: number }[] = []
    for (let count = min; count < max; count++) {
      ends.push(split())
      emit(body)
    }
    for (const end of ends) end.second = instructions.length
  }
  const emitLook = (node: PatternNode & { readonly kind: 'look' }): void => {
    // Where a lookahead holds is found by reading its body backward from each place where it could end.
    const program = compileBody(node.body, node.isAhead, shared)
    if (shared.looks.length === MAX_LOOKAROUNDS) throw new UnsupportedPattern('has too many lookarounds')
    shared.looks.push(program)
    check(FIRST_LOOK << (shared.looks.length - 1), node.isNegative)
  }
  const emit = (node: PatternNode): void => {
    // Counted by nodes and not by instructions, since a thousandfold nothing takes time too.
    shared.budget.left -= 1
    if (shared.budget.left < 0) throw new UnsupportedPattern('repeats too much')
    switch (node.kind) {
      case 'character':
        instructions.push(node)
        break
      case 'assertion':
        if (node.at === 'start') check(AT_START, false)
        else if (node.at === 'end') check(AT_END, false)
        else check(AT_BOUNDARY, node.at === 'no-boundary')
        break
      case 'sequence':
        for (const part of isBackward ? node.parts.toReversed() : node.parts) emit(part)
        break
      case 'choice':
        emitChoice(node.parts)
        break
      case 'repeat':
        emitRepeat(node.body, node.min, node.max)
        break
      case 'look':
        emitLook(node)
        break
    }
  }
  emit(root)
  instructions.push({ kind: 'match' })
  return { instructions, bits, isBackward }
}
