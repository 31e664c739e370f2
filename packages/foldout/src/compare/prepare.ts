import { FoldoutError } from '../core/errors.ts'
import { dropUndefined } from 'foldout-shared/values'
import { shorten } from '../core/text.ts'
import { createSession } from '../session/session.ts'
import type { RunStart } from './contract/arms.ts'
import type { CompareCase } from './contract/cases.ts'
import type { CompareOptions } from './contract/options.ts'
import type { SavedHeader } from './contract/saved.ts'
import { getArmDigest, getCaseDigest } from './file/digests.ts'
import { listGraders } from './grade/grade-run.ts'
import { getModelName, type PreparedRun } from './run/conversation.ts'
import type { Terms } from './terms.ts'

const MAX_INPUT_SHOWN = 500

/** Describes what a comparison is asked to do. */
export async function createHeader<World>(options: CompareOptions<World>, terms: Terms<World>): Promise<SavedHeader> {
  const { cases, base, repeat, looks, margin, seed, prices, perHour, counter, graders } = terms
  const arms: [string, string][] = []
  const models: [string, string | null][] = []
  for (const name of Object.keys(terms.arms)) {
    const { digest, model } = await identifyArm(options, terms, name)
    arms.push([name, digest])
    models.push([name, model])
  }
  return {
    type: 'header',
    version: 1,
    at: Date.now(),
    base,
    arms: Object.fromEntries(arms),
    models: Object.fromEntries(models),
    cases: cases.map((task) => ({
      id: task.id,
      digest: getCaseDigest(
        task,
        listGraders(graders, task).map(([name]) => name),
      ),
      input: shorten(task.input ?? task.turns?.[0] ?? task.user ?? '', MAX_INPUT_SHOWN),
      ...dropUndefined({ conversation: task.conversation, needs: task.needs }),
    })),
    repeat,
    looks,
    margin,
    seed,
    prices,
    perHour,
    counter: { name: counter.name, exact: counter.exact },
  }
}

interface ArmIdentity {
  readonly digest: string
  readonly model: string | null
  /** The tokens of the tools and the system text of the first request. */
  readonly startTokens: number
}

/** Prepares the first run of an arm to see what it is. */
export async function identifyArm<World>(
  options: CompareOptions<World>,
  terms: Terms<World>,
  name: string,
): Promise<ArmIdentity> {
  const [task] = terms.cases
  if (!task) throw new FoldoutError('compare-invalid', 'There are no cases.')
  const { signal = new AbortController().signal } = options
  const { arm, prompt, start, adapter } = await prepareRun(options, { terms, name, task, repeat: 0, signal })
  const { disclosure, visibility, overrides } = arm
  const rendered = prompt.render({
    session: start.session,
    counter: terms.counter,
    ...dropUndefined({ disclosure, visibility, overrides }),
  })
  const { tokens, tokensIfAllOpen } = rendered
  return {
    digest: getArmDigest({ arm, rendered }),
    model: (adapter && getModelName(adapter)) ?? null,
    startTokens: arm.open === 'all' ? tokensIfAllOpen.total : tokens.total,
  }
}

interface RunPlace<World> {
  readonly terms: Pick<Terms<World>, 'arms'>
  readonly name: string
  readonly task: CompareCase
  readonly repeat: number
  readonly signal: AbortSignal
}

/** Makes everything that a run needs. Nothing is sent. */
export async function prepareRun<World>(
  options: Pick<CompareOptions<World>, 'adapter' | 'offline' | 'session' | 'world'>,
  { terms, name, task, repeat, signal }: RunPlace<World>,
): Promise<PreparedRun<World>> {
  const arm = terms.arms[name]
  if (!arm) throw new FoldoutError('compare-invalid', `There is no arm '${shorten(name)}'.`)
  const world = (await options.world?.(task)) as World
  const session = options.session?.() ?? createSession()
  const start: RunStart<World> = { arm: name, case: task, repeat, world, session, signal }
  const prompt = typeof arm.prompt === 'function' ? await arm.prompt(start) : arm.prompt
  const adapter = arm.host || options.offline ? undefined : await (arm.adapter ?? options.adapter)?.(start)
  return { start, arm, prompt, adapter }
}
