import type { UserMessage } from '../../adapters/contract.ts'
import type { FoldPrice } from '../../core/price/fold.ts'
import { choosePlace, type AheadPlace } from '../../core/price/place.ts'
import { USUAL_CACHE } from '../../core/price/prompt-cache.ts'
import { estimatedTokens, type TokenCounter } from '../../core/tokens/tokens.ts'
import { chooseAhead, type AheadChoice } from '../../disclosure/ahead/choose.ts'
import { getRuleName, type OpenAhead } from '../../disclosure/ahead/rule.ts'
import { applyOpening, describeAhead } from '../../disclosure/opening.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { Session } from '../../session/contract.ts'
import { toolTokens } from '../../tools/definition.ts'
import { sectionsOpened, type AgentEvent, type SectionsOpened } from '../events.ts'
import { DEFAULT_PER_HOUR } from '../limits.ts'
import type { AgentOptions } from '../options.ts'
import { getOpenRule } from './open-rule.ts'

/** What opening ahead needs of a run. */
interface AheadRun {
  readonly options: AgentOptions
  readonly input: UserMessage | undefined
  readonly session: Session
  readonly signal: { readonly signal: AbortSignal }
  /** Whether the next request begins with a new render. */
  readonly isFresh: boolean
  render(): RenderedPrompt
  /** Throws if the run must not continue. */
  check(): void
  tell(event: AgentEvent): void
}

/** Opens sections before the first request for a run's input. */
export interface RunAhead {
  /** Asks the rule, and opens what belongs in the system text. Later calls do nothing. */
  prepare(run: AheadRun): Promise<void>
  /** Opens what belongs behind the user's message. `tellNews` shows what is open. */
  show(session: Session, tellNews: (describe: typeof describeAhead) => void): void
}

export function createRunAhead(): RunAhead {
  let isAsked = false
  let waiting: AheadChoice | undefined
  return {
    async prepare(run) {
      const { options, input } = run
      const rule = getOpenRule(options)
      if (isAsked || rule === undefined || input === undefined) return
      isAsked = true
      const choice = await ask(run, rule, input.text)
      run.check()
      const place = findPlace(run, choice)
      tellChoice(run, rule, choice, place)
      if (choice.keys.length === 0) return
      if (place === 'system') applyOpening(run.session, choice.opening)
      else waiting = choice
    },
    show(session, tellNews) {
      if (!waiting) return
      applyOpening(session, waiting.opening)
      waiting = undefined
      tellNews(describeAhead)
    },
  }
}

async function ask(run: AheadRun, rule: OpenAhead, input: string): Promise<AheadChoice> {
  const { session, options, tell } = run
  const { counter = estimatedTokens } = options
  const { view } = run.render()
  const choice = await chooseAhead({ rule, input, session, view, counter, signal: run.signal.signal })
  for (const message of choice.problems) tell({ type: 'warning', message })
  return choice
}

/**
 * A conversation that has begun continues behind the user's message, unless its tools can only be added by a new render.
 */
function findPlace(run: AheadRun, choice: AheadChoice): AheadPlace {
  const { adapter, perHour, counter } = run.options
  if (choice.opening.tools.length > 0 && !adapter.supportsDynamicTools) return 'system'
  if (!run.isFresh) return 'message'
  return chooseAheadPlace(choice, run.render(), { cache: adapter.promptCache, perHour, counter })
}

interface PlacePrice extends Pick<FoldPrice, 'cache' | 'perHour'> {
  readonly counter?: TokenCounter | undefined
}

/** Chooses the place of sections in a conversation that begins, by price. */
export function chooseAheadPlace(
  { tokens, variants }: AheadChoice,
  { text, tools }: Pick<RenderedPrompt, 'text' | 'tools'>,
  { cache = USUAL_CACHE, perHour = DEFAULT_PER_HOUR, counter = estimatedTokens }: PlacePrice,
): AheadPlace {
  const shared = tools.reduce((sum, tool) => sum + toolTokens(tool, counter), counter.count(text))
  return choosePlace({ cache, perHour, variants, shared, opened: tokens })
}

/** Describes what a rule opened, and where. */
export function describeChoice(rule: OpenAhead, choice: AheadChoice, place: AheadPlace): SectionsOpened {
  const { keys, opening, tokens, variants } = choice
  const tools = opening.tools.map(({ name }) => name)
  return { rule: getRuleName(rule), keys, paths: opening.paths, tools, place, tokens, variants }
}

function tellChoice({ session, tell }: AheadRun, rule: OpenAhead, choice: AheadChoice, place: AheadPlace): void {
  const event = describeChoice(rule, choice, place)
  session.dispatch(sectionsOpened(event))
  tell({ type: 'sections/opened', ...event })
}
