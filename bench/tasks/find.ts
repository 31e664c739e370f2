import { createSession, readSection, type DisclosureStrategy, type TokenCounter } from 'foldout'
import type { SimulatedRun, SimulationStep } from 'foldout/telemetry'

/** A run whose model finds sections by a query instead of a key. */
interface FindingRun {
  readonly run: SimulatedRun
  readonly strategy: DisclosureStrategy
}

/** What a query for a section's title answers: the section, or a list with this many tokens. */
type Answer = 'opens' | number

const answers = new WeakMap<object, Map<string, Promise<Answer>>>()

/** Lets a model ask for what it needs by its title. If the answer is a list, it opens the section by its key. */
export async function planFind(run: SimulatedRun, counter: TokenCounter): Promise<FindingRun> {
  const titles = new Map(run.prompt.render().view.texts.map(({ path, title }) => [path, title]))
  const known = answers.get(run.prompt) ?? new Map<string, Promise<Answer>>()
  answers.set(run.prompt, known)
  const direct = new Set<string>()
  const seen = new Set<string>()
  const steps: SimulationStep[] = []
  for (const step of run.steps) {
    for (const path of 'opens' in step ? step.opens.filter((each) => !seen.has(each)) : []) {
      seen.add(path)
      const query = titles.get(path) ?? path
      const asked = known.get(path) ?? ask(run, { path, query, counter })
      known.set(path, asked)
      const answer = await asked
      if (answer === 'opens') direct.add(path)
      else
        steps.push({
          calls: [{ name: 'read_section', argumentsTokens: counter.count(query) + 8, resultTokens: answer }],
        })
    }
    steps.push(step)
  }
  const plain = readSection()
  const strategy: DisclosureStrategy = {
    ...plain,
    getCalls: (view, keys) =>
      keys.flatMap((key) => {
        if (!direct.has(key)) return plain.getCalls?.(view, [key]) ?? []
        return [{ name: 'read_section', arguments: { section_key: '', query: titles.get(key) ?? key } }]
      }),
  }
  return { run: { ...run, steps }, strategy }
}

async function ask(
  { prompt }: SimulatedRun,
  { path, query, counter }: { readonly path: string; readonly query: string; readonly counter: TokenCounter },
): Promise<Answer> {
  const session = createSession()
  const tool = prompt.render({ session }).tools.find(({ name }) => name === 'read_section')
  const result = await tool?.execute({ section_key: '', query }, { session } as never)
  if (result?.ok && result.opening?.keys.includes(path)) return 'opens'
  return counter.count(result?.message ?? '')
}
