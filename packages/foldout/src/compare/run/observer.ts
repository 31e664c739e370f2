import { NO_USAGE, addUsage, type Usage } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { ComparedPrompt } from '../contract/arms.ts'
import type { GradedCall } from '../contract/options.ts'
import { READ_RESULT } from '../../results/read-result.ts'

/** What a run has opened and called, by its events. */
export interface Observer {
  /** The prompt, whose first render is remembered. */
  readonly prompt: ComparedPrompt
  readonly calls: readonly GradedCall[]
  readonly usage: Usage
  onEvent(event: AgentEvent): void
  findTool(name: string): AnyTool | undefined
  getFacts(): RunFacts
}

export interface RunFacts {
  readonly folded: readonly string[]
  readonly opened: readonly string[]
  readonly ahead: readonly string[]
  readonly used: readonly string[]
  readonly readable: readonly string[]
  readonly callsNotOffered: number
}

type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>

/** @param isOpen Whether the arm opens everything, so that nothing is folded. */
export function observe(bound: ComparedPrompt, isOpen: boolean): Observer {
  const calls: GradedCall[] = []
  const asked = new Map<string, { readonly name: string; readonly arguments: unknown }>()
  const opened = new Set<string>()
  const ahead = new Set<string>()
  const tools = new Set<string>()
  let first: RenderedPrompt | undefined
  let offered: ReadonlySet<string> | undefined
  let callsNotOffered = 0
  let usage = NO_USAGE
  const ask = ({ call, target, isLeft }: EventOf<'tool/called'>): void => {
    if (!isLeft && offered && !offered.has(call.name)) callsNotOffered++
    asked.set(call.id, { name: target?.name ?? call.name, arguments: target ? target.arguments : call.arguments })
  }
  const answer = (event: EventOf<'tool/invoked'>): void => {
    const { callId, name, ok, disclosure, delegated, target } = event
    if (ok && disclosure) for (const key of disclosure.keys) opened.add(key)
    if (ok && delegated) opened.add(delegated.path)
    if (disclosure || delegated || name === READ_RESULT) return
    const made = asked.get(callId)
    calls.push({ name: target?.name ?? name, arguments: made?.arguments, ok })
    if (ok) for (const used of [name, target?.name ?? name]) tools.add(used)
  }
  const onEvent = (event: AgentEvent): void => {
    if (event.type === 'request/sent') offered = new Set(event.tools)
    if (event.type === 'tool/called') ask(event)
    if (event.type === 'tool/invoked') answer(event)
    if (event.type === 'sections/opened') for (const path of event.paths) ahead.add(path)
    if (event.type === 'tools/injected' || event.type === 'run/expanded') for (const key of event.keys) opened.add(key)
    if (event.type === 'reply/received' || event.type === 'reply/lost') usage = addUsage(usage, event.usage)
    if (event.type === 'section/delegated') {
      const inner = event.event
      if (inner.type === 'tool/invoked' && inner.ok) tools.add(inner.target?.name ?? inner.name)
      if (inner.type === 'reply/received' || inner.type === 'reply/lost') usage = addUsage(usage, inner.usage)
    }
  }
  return {
    prompt: {
      prompt: bound.prompt,
      render(options) {
        const rendered = bound.render(options)
        first ??= rendered
        return rendered
      },
    },
    calls,
    get usage() {
      return usage
    },
    onEvent,
    findTool: (name) => first?.view.findTool(name) ?? first?.tools.find((tool) => tool.name === name),
    getFacts: () => ({
      callsNotOffered,
      ...(first && !isOpen ? findFolds(first, { opened, ahead }) : NO_FOLDS),
      used: findUsed(first, tools),
    }),
  }
}

const NO_FOLDS = { folded: [], opened: [], ahead: [], readable: [] }

interface Openings {
  readonly opened: ReadonlySet<string>
  readonly ahead: ReadonlySet<string>
}

/** What was folded at the beginning, and what became readable of it, also inside others. */
function findFolds({ view }: RenderedPrompt, openings: Openings): Omit<RunFacts, 'callsNotOffered' | 'used'> {
  const isFolded = (path: string): boolean => view.state(path) === 'folded'
  const toPaths = (keys: Iterable<string>): readonly string[] => {
    const paths = [...keys].flatMap((key) => view.resolve(key) ?? [])
    return [...new Set(paths)].filter(isFolded)
  }
  const ahead = toPaths(openings.ahead)
  const opened = toPaths(openings.opened).filter((path) => !ahead.includes(path))
  const folded = view.folded.map(({ path }) => path)
  if (opened.length + ahead.length === 0) return { folded, opened, ahead, readable: [] }
  const after = view.opened([...opened, ...ahead])
  return { folded, opened, ahead, readable: view.keys.filter((path) => isFolded(path) && after.state(path) === 'full') }
}

/** The sections whose tools were called. A tool belongs to the innermost section that has it. */
function findUsed(first: RenderedPrompt | undefined, tools: ReadonlySet<string>): readonly string[] {
  if (!first || tools.size === 0) return []
  const { view } = first
  const inFull = view.opened(view.keys)
  const owners = new Map<string, string>()
  // Outer sections come first.
  for (const path of view.keys) for (const { name } of inFull.toolsIn(path)) owners.set(name, path)
  return [...new Set([...tools].flatMap((name) => owners.get(name) ?? []))]
}
