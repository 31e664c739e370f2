import { sha256Hex } from '../../../core/hash.ts'
import { estimatedTokens } from '../../../core/tokens/tokens.ts'
import { chooseAhead } from '../../../disclosure/ahead/choose.ts'
import { getOpenedText } from '../../../disclosure/engine.ts'
import { applyOpening, describeAhead, getNewTools } from '../../../disclosure/opening.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { Event } from '../../../session/event.ts'
import { includeInSessions, type SessionReader } from '../../../session/session.ts'
import { defineSlice } from '../../../session/slice.ts'
import { chooseAheadPlace, describeChoice } from '../../ahead/run-ahead.ts'
import { agentRun } from '../../state/run-state.ts'
import type { HostAhead, HostAheadOptions, HostMessageForm, HostView, MessagesWithAhead } from './contract.ts'
import type { ViewParts } from './parts.ts'

/** What was opened for a message of the user. */
interface AskedInput {
  readonly input: string
  readonly paths: readonly string[]
  /** What is shown behind the message; empty if the sections are in the system text. */
  readonly text: string
}

/** The messages about which a rule was asked. Their texts are hashes. */
const openedAhead = includeInSessions(
  defineSlice({
    name: 'openedAhead',
    initial: { inputs: [] as readonly AskedInput[] },
    reducers: { asked: ({ inputs }, asked: AskedInput) => ({ inputs: [...inputs, asked] }) },
  }),
)

function getAsked(session: SessionReader): readonly AskedInput[] {
  return session.has(openedAhead) ? session.get(openedAhead).inputs : []
}

/** The sections that were opened in the system text, which no message shows. */
export function findOpenedInSystem(session: SessionReader): ReadonlySet<string> {
  const inSystem = getAsked(session).filter(({ text }) => text === '')
  return new Set(inSystem.flatMap(({ paths }) => paths))
}

/** Names messages by what they say, and those that say the same by their order. */
function createNamer(): (input: string) => string {
  const counts = new Map<string, number>()
  return (input) => {
    const hash = sha256Hex(input).slice(0, 32)
    const count = (counts.get(hash) ?? 0) + 1
    counts.set(hash, count)
    return `${hash}:${count}`
  }
}

const NOTHING: HostAhead = { events: [], text: '', added: [] }

interface AheadParts extends ViewParts {
  readonly view: HostView
  readonly renderFor: (session: SessionReader) => RenderedPrompt
}

/** Asks the rule about the last message, as one transaction. */
export async function openAheadInHost(
  { open, view, report, renderFor, render }: AheadParts,
  inputs: readonly string[],
  { signal, hasBegun = inputs.length > 1 }: HostAheadOptions = {},
): Promise<HostAhead> {
  const input = inputs.at(-1)
  const { session, rendered } = view
  const names = inputs.map(createNamer())
  const name = names.at(-1)
  const asked = getAsked(session)
  if (open === undefined || input === undefined || name === undefined) return NOTHING
  if (asked.some((known) => known.input === name)) return NOTHING
  const { counter = estimatedTokens, price = {} } = render
  const choice = await chooseAhead({ rule: open, input, session, view: rendered.view, counter, signal })
  const isFixed = hasBegun || asked.length > 0 || session.get(agentRun).disclosed.length > 0
  const place = isFixed ? 'message' : chooseAheadPlace(choice, rendered, { ...price, counter })
  report.opensAhead(choice.problems, describeChoice(open, choice, place))
  const transaction = session.begin()
  const events: Event[] = []
  transaction.session.subscribe((event) => events.push(event))
  applyOpening(transaction.session, choice.opening)
  const now = renderFor(transaction.session)
  const added = getNewTools(now, new Set(view.tools.map((tool) => tool.name)))
  const opened = getOpenedText(now.view, choice.opening.paths)
  const isBehind = place === 'message' && opened !== ''
  const text = (isBehind && describeAhead(opened, added)) || ''
  if (transaction.session.has(openedAhead))
    transaction.session.dispatch(openedAhead.events.asked({ input: name, paths: choice.opening.paths, text }))
  // In the system text, the tools have the places that they have for everybody.
  if (text !== '' && added.length > 0)
    transaction.session.dispatch(
      agentRun.events.disclosed({ names: [...view.tools, ...added].map((tool) => tool.name) }),
    )
  transaction.commit()
  return { events, text, added }
}

/** Adds what was opened behind messages of the user to those that are still there. */
export function addAheadTo<Message>(
  session: SessionReader,
  messages: readonly Message[],
  { getInput, create }: HostMessageForm<Message>,
): MessagesWithAhead<Message> {
  const behind = getAsked(session).filter(({ text }) => text !== '')
  const texts = new Map(behind.map(({ input, text }) => [input, text]))
  if (texts.size === 0) return { messages: [...messages], shown: [] }
  const name = createNamer()
  const known = new Set(texts.values())
  const shown: string[] = []
  const all = messages.flatMap((message, at) => {
    const input = getInput(message)
    // The host may have kept what was added to an earlier request.
    if (input === undefined || known.has(input)) return [message]
    const text = texts.get(name(input))
    if (text === undefined) return [message]
    shown.push(text)
    const next = messages[at + 1]
    if (next !== undefined && getInput(next) === text) return [message]
    return [message, create(text)]
  })
  return { messages: all, shown }
}
