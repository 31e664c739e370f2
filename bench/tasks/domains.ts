import { definePrompt, type AnySection, type BoundPrompt } from 'foldout'
import type { SimulatedRun, SimulationStep } from 'foldout/telemetry'
import type { ApiSet, BankingSet, PolicyDomain, TaskAction, TaskData } from './data.ts'
import { ownDesk } from './own-desk.ts'
import { createFold, open, toKey, toTool, type Fold } from './sections.ts'

/** A prompt, and the tasks that run on it. */
export interface Domain {
  readonly name: string
  readonly prompt: BoundPrompt
  readonly tasks: readonly Task[]
}

export interface Task {
  readonly run: SimulatedRun
  /** The sections that the task needs. */
  readonly needed: readonly string[]
}

/** A conversation with a person, where a task has none recorded: means of 200 recorded ones. */
const TALKS = 6
const TALK = { says: 73, hears: 24 } as const

/** Creates the prompts of task sets. With the need of each section, they are folded by price. */
export function createDomains(
  { policies, banking, apis }: TaskData,
  getNeed?: (key: string) => number,
): readonly Domain[] {
  const fold = createFold(getNeed)
  return [
    ...Object.entries(policies).map(([name, domain]) => createPolicyDomain(name, domain, fold)),
    ...(Object.keys(policies).length > 0 ? [createDesks({ ...policies, library: ownDesk }, fold)] : []),
    ...(apis ? [createApiDomain(apis, fold)] : []),
    ...(banking ? [createBanking(banking, fold)] : []),
  ]
}

/** Calls one at a time, with the turns of a person between them, and what each needs opened before it. */
function toSteps(
  actions: readonly TaskAction[],
  getOwner: (tool: string) => string | undefined,
): readonly SimulationStep[] {
  const own = actions.filter(([agent]) => agent === 1)
  const steps: SimulationStep[] = [TALK]
  let talked = 1
  for (const [at, [, name, argumentsTokens, resultTokens]] of own.entries()) {
    const owner = getOwner(name)
    if (owner !== undefined) steps.push({ opens: [owner] })
    steps.push({ calls: [{ name, argumentsTokens, resultTokens }] })
    const due = Math.round(((at + 1) / own.length) * (TALKS - 1)) + 1
    for (; talked < due; talked++) steps.push(TALK)
  }
  for (; talked < TALKS; talked++) steps.push(TALK)
  return [...steps, { answers: TALK.says }]
}

function toTask(prompt: BoundPrompt, said: string, steps: readonly SimulationStep[]): Task {
  const needed = [...new Set(steps.flatMap((step) => ('opens' in step ? step.opens : [])))]
  return { run: { prompt, input: said, steps }, needed }
}

interface Chapter {
  readonly title: string
  readonly text: string
}

/** The chapters of a policy, by its headings of the second level; the first is what precedes them. */
function toChapters(policy: readonly string[]): readonly Chapter[] {
  const [intro = '', ...rest] = policy.join('\n\n').split(/^## /m)
  const chapters = rest.map((part) => {
    const end = part.indexOf('\n')
    return { title: part.slice(0, end).trim(), text: part.slice(end + 1).trim() }
  })
  return [{ title: 'Policy', text: intro.trim() }, ...chapters]
}

const stem = (word: string): string => word.toLowerCase().slice(0, 5)
const wordsIn = (text: string): readonly string[] => (text.toLowerCase().match(/[a-z]+/g) ?? []).map(stem)

/** Chapters that tools do not belong to, and tools that no title names. */
const CHANGES: Readonly<Record<string, string>> = { update: 'modif', send: 'refun' }

/** The chapter whose title names what a tool does, such as 'Cancel flight' for `cancel_reservation`. */
function findChapter(tool: string, chapters: readonly Chapter[]): Chapter | undefined {
  const verb = tool.split('_')[0] ?? ''
  const wanted = CHANGES[verb] ?? stem(verb)
  return chapters.find(({ title }) => wordsIn(title)[0] === wanted)
}

function createPolicyDomain(name: string, { policy, tools, tasks }: PolicyDomain, foldable: Fold): Domain {
  const chapters = toChapters(policy)
  const owners = new Map<string, string>()
  for (const tool of tools) {
    const chapter = tool.write ? findChapter(tool.name, chapters.slice(1)) : undefined
    if (chapter) owners.set(tool.name, toKey(chapter.title))
  }
  const sections = chapters.map(({ title, text }): AnySection => {
    const key = toKey(title)
    const own = tools.filter((tool) => owners.get(tool.name) === key).map(toTool)
    if (own.length > 0) return foldable({ key, title, text, tools: own })
    return open({
      key,
      title,
      text,
      tools: title === 'Policy' ? tools.filter((tool) => !owners.has(tool.name)).map(toTool) : [],
    })
  })
  const prompt = definePrompt({ ns: 'tasks', key: toKey(name), sections }).bind()
  return {
    name,
    prompt,
    tasks: tasks.map(({ said, actions }) =>
      toTask(
        prompt,
        said,
        toSteps(actions, (tool) => owners.get(tool)),
      ),
    ),
  }
}

/** Several policies in one prompt, each with its tools, of which a conversation needs one. */
function createDesks(policies: Readonly<Record<string, PolicyDomain>>, foldable: Fold): Domain {
  const names = Object.keys(policies)
  const sections = Object.entries(policies).map(([name, { policy, tools }]) =>
    foldable({
      key: toKey(name),
      title: `${name} desk`,
      text: policy.join('\n\n').replaceAll(/^#/gm, '##'),
      summary: `Everything about ${name}.`,
      tools: tools.map((tool) => toTool({ ...tool, name: `${name}_${tool.name}` })),
    }),
  )
  const role = open({ key: 'role', title: 'Role', text: `You answer customers of the ${names.join(', ')} desks.` })
  const prompt = definePrompt({ ns: 'tasks', key: 'desks', sections: [role, ...sections] }).bind()
  const tasks = Object.entries(policies).flatMap(([name, domain]) =>
    domain.tasks.map(({ said, actions }) => {
      const own = actions.map(([agent, tool, ...sizes]): TaskAction => [agent, `${name}_${tool}`, ...sizes])
      const steps = [{ opens: [toKey(name)] }, ...toSteps(own, () => toKey(name))]
      return toTask(prompt, said, steps)
    }),
  )
  return { name: 'three desks', prompt, tasks }
}

/** What a call costs that is recorded as Python. */
const PYTHON_RESULT = 60

function createApiDomain({ apis, tasks }: ApiSet, foldable: Fold): Domain {
  const owners = new Map(
    Object.entries(apis).flatMap(([api, tools]) => tools.map(({ name }) => [name, toKey(api)] as const)),
  )
  const sections = Object.entries(apis).map(([api, tools]) =>
    foldable({
      key: toKey(api),
      title: api.replaceAll('_', ' '),
      text: (tools[0]?.description ?? '').split(' Tool description:')[0] ?? '',
      tools: tools.map(toTool),
    }),
  )
  const role = open({ key: 'role', title: 'Role', text: 'You do what the user asks with the tools of these systems.' })
  const prompt = definePrompt({ ns: 'tasks', key: 'apis', sections: [role, ...sections] }).bind()
  return {
    name: 'bfcl',
    prompt,
    tasks: tasks.map(({ turns, gold }) => {
      const steps = gold.flatMap((calls, turn): SimulationStep[] => {
        const made = calls.flatMap((call): SimulationStep[] => {
          const name = call.slice(0, call.indexOf('('))
          const owner = owners.get(name)
          const argumentsTokens = Math.ceil((call.length - name.length) / 4)
          if (owner === undefined) return []
          return [{ opens: [owner] }, { calls: [{ name, argumentsTokens, resultTokens: PYTHON_RESULT }] }]
        })
        const next = turns[turn + 1]
        return next === undefined ? made : [...made, { says: TALK.says, hears: next }]
      })
      return toTask(prompt, turns[0] ?? '', [...steps, { answers: TALK.says }])
    }),
  }
}

const CATEGORIES = [
  'business_checking_accounts',
  'business_credit_cards',
  'business_savings_accounts',
  'bank_accounts',
  'buy_now_pay_later',
  'checking_accounts',
  'credit_cards',
  'everyone_pay',
  'savings_accounts',
] as const

function createBanking({ policy, docs, tools, hidden, tasks }: BankingSet, foldable: Fold): Domain {
  const paths = new Map<string, string>()
  const groups = new Map<string, Map<string, AnySection[]>>()
  const owners = new Map<string, string>()
  for (const { id, title, text } of docs) {
    const group = id.replace(/^doc_/, '').replace(/_\d+$/, '')
    const category = CATEGORIES.find((each) => group.startsWith(each)) ?? 'other'
    const product = toKey(group.slice(category === 'other' ? 0 : category.length))
    const key = toKey(id.slice(id.lastIndexOf('_') + 1) + '-' + title)
    const path = `${toKey(category)}.${product}.${key}`
    paths.set(id, path)
    const own = hidden.filter(({ name }) => !owners.has(name) && text.includes(name))
    for (const { name } of own) owners.set(name, path)
    const products = groups.get(category) ?? new Map<string, AnySection[]>()
    groups.set(category, products)
    products.set(product, [
      ...(products.get(product) ?? []),
      foldable({ key, title, text, summary: title, tools: own.map(toTool) }),
    ])
  }
  const sections = [...groups].map(([category, products]) =>
    foldable({
      key: toKey(category),
      title: category.replaceAll('_', ' '),
      text: '',
      children: [...products].map(([product, children]) =>
        foldable({ key: product, title: product.replaceAll('-', ' '), text: '', children }),
      ),
    }),
  )
  const role = open({ key: 'policy', title: 'Policy', text: policy.join('\n\n'), tools: tools.map(toTool) })
  const prompt = definePrompt({ ns: 'tasks', key: 'banking', sections: [role, ...sections] }).bind()
  return {
    name: 'banking',
    prompt,
    tasks: tasks.map(({ said, docs: needed, actions }) => {
      const known = actions.filter(([, name]) => owners.has(name) || tools.some((tool) => tool.name === name))
      const opens = needed.flatMap((id): SimulationStep[] => [{ opens: [paths.get(id) ?? ''] }])
      return toTask(prompt, said, [...opens, ...toSteps(known, (tool) => owners.get(tool))])
    }),
  }
}
