import { MAX_LOOKAROUNDS, MAX_PATTERN_SIZE } from './limits.ts'
import { UnsupportedPattern, type CharacterTest, type PatternNode } from './syntax.ts'

/** Properties of a place in a text, as bits. The higher bits say which lookarounds hold there. */
export const AT_START = 1
export const AT_END = 2
export const AT_BOUNDARY = 4
export const FIRST_LOOK = 8

/** One instruction: consume a character, split in two, check the place, or report a match. */
export type Instruction =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'check'; readonly bit: number; readonly isNegative: boolean }
  | { readonly kind: 'match' }

export interface Program {
  readonly instructions: readonly Instruction[]
  /** The bits of a place that some instruction checks. */
  readonly bits: number
  /** Whether the program reads a text backward. */
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
  return new ProgramWriter(isBackward, shared).write(root)
}

/** Writes the instructions of one program. */
class ProgramWriter {
  private readonly instructions: Instruction[] = []
  private bits = 0
  private readonly isBackward: boolean
  private readonly shared: Shared

  constructor(isBackward: boolean, shared: Shared) {
    this.isBackward = isBackward
    this.shared = shared
  }

  write(root: PatternNode): Program {
    this.emit(root)
    this.instructions.push({ kind: 'match' })
    return { instructions: this.instructions, bits: this.bits, isBackward: this.isBackward }
  }

  private emit(node: PatternNode): void {
    // Counts nodes rather than instructions, because repeating an empty body takes time too.
    this.shared.budget.left -= 1
    if (this.shared.budget.left < 0) throw new UnsupportedPattern('repeats too much')
    switch (node.kind) {
      case 'character':
        this.instructions.push(node)
        break
      case 'assertion':
        this.emitAssertion(node.at)
        break
      case 'sequence':
        for (const part of this.isBackward ? node.parts.toReversed() : node.parts) this.emit(part)
        break
      case 'choice':
        this.emitChoice(node.parts)
        break
      case 'repeat':
        this.emitRepeat(node.body, node.min, node.max)
        break
      case 'look':
        this.emitLook(node)
        break
    }
  }

  private emitAssertion(at: 'start' | 'end' | 'boundary' | 'no-boundary'): void {
    if (at === 'start') this.emitCheck(AT_START, false)
    else if (at === 'end') this.emitCheck(AT_END, false)
    else this.emitCheck(AT_BOUNDARY, at === 'no-boundary')
  }

  private emitCheck(bit: number, isNegative: boolean): void {
    this.bits |= bit
    this.instructions.push({ kind: 'check', bit, isNegative })
  }

  /** Emits a split: continue with the next instruction, and with another that is set later. */
  private emitSplit(): { first: number; second: number } {
    const instruction = { kind: 'split' as const, first: this.instructions.length + 1, second: 0 }
    this.instructions.push(instruction)
    return instruction
  }

  /** Emits a jump: continue only with an instruction that is set later. */
  private emitJump(): { first: number; second: number } {
    const instruction = this.emitSplit()
    instruction.second = -1
    return instruction
  }

  private emitChoice(parts: readonly PatternNode[]): void {
    const ends: { first: number }[] = []
    for (const [index, part] of parts.entries()) {
      if (index === parts.length - 1) {
        this.emit(part)
      } else {
        const either = this.emitSplit()
        this.emit(part)
        ends.push(this.emitJump())
        either.second = this.instructions.length
      }
    }
    for (const end of ends) end.first = this.instructions.length
  }

  private emitRepeat(body: PatternNode, min: number, max: number): void {
    for (let count = 0; count < min; count++) this.emit(body)
    if (max === Infinity) {
      const start = this.instructions.length
      const either = this.emitSplit()
      this.emit(body)
      this.emitJump().first = start
      either.second = this.instructions.length
      return
    }
    const ends: { second: number }[] = []
    for (let count = min; count < max; count++) {
      ends.push(this.emitSplit())
      this.emit(body)
    }
    for (const end of ends) end.second = this.instructions.length
  }

  private emitLook(node: PatternNode & { readonly kind: 'look' }): void {
    const { looks } = this.shared
    // A lookahead is evaluated by reading its body backward from each place where it could end.
    const program = compileBody(node.body, node.isAhead, this.shared)
    if (looks.length === MAX_LOOKAROUNDS) throw new UnsupportedPattern('has too many lookarounds')
    looks.push(program)
    this.emitCheck(FIRST_LOOK << (looks.length - 1), node.isNegative)
  }
}
