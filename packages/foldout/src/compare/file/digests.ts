import { sha256Hex } from '../../core/hash.ts'
import { canonicalJson, toJson } from '../../core/json/json.ts'
import { getRuleName, type OpenAhead } from '../../disclosure/ahead/rule.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import { toolDefinition } from '../../tools/definition.ts'
import type { CompareArm } from '../contract/arms.ts'
import type { CompareCase } from '../contract/cases.ts'

const LENGTH = 16

export function getDigest(value: unknown): string {
  return sha256Hex(canonicalJson(value)).slice(0, LENGTH)
}

/** @param graders The names of the graders of the case. */
export function getCaseDigest(task: CompareCase, graders: readonly string[]): string {
  return getDigest([toJson(task), graders])
}

/** What an arm is, as far as it can be known before it runs: two arms with one digest are run alike. */
export interface ArmFacts<World> {
  readonly arm: CompareArm<World>
  /** The prompt as its first run begins. */
  readonly rendered: RenderedPrompt
}

export function getArmDigest<World>({ arm, rendered }: ArmFacts<World>): string {
  const { view, text, descriptor } = rendered
  const tools = (): unknown => view.opened(view.keys).tools.map(toolDefinition)
  // A text may differ from day to day, so a version counts instead of it.
  const source = arm.version ?? [text, descriptor, tools()]
  return getDigest([source, descriptor.ns, descriptor.key, describeOptions(arm)])
}

/** Digest of what an arm sets besides its prompt, so that two arms with the same text can be told apart. */
export function getOptionsDigest<World>(arm: CompareArm<World>): string {
  return getDigest(describeOptions(arm))
}

function describeOptions<World>({ open, disclosure, host, options }: CompareArm<World>): unknown {
  return [
    open && describeRule(open),
    disclosure && [disclosure.name, disclosure.showCost],
    host && `host ${host.name}`,
    toText(options),
  ]
}

function describeRule(open: OpenAhead): unknown {
  return typeof open === 'function' ? [getRuleName(open), open.max ?? null] : open
}

/** Functions count by their names. What cannot be written as JSON does not count. */
function toText(value: unknown): string | null {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'function' ? `function ${inner.name}` : inner,
    )
    return text ?? null
  } catch {
    return null
  }
}

/** The name of a run in the saved file. */
export function getRunId(run: {
  readonly arm: string
  readonly armDigest: string
  readonly case: string
  readonly caseDigest: string
  readonly repeat: number
}): string {
  return getDigest([run.arm, run.armDigest, run.case, run.caseDigest, run.repeat])
}
