import type { LanguageModel, ModelMessage } from 'ai'
import { createDisclosure } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { createCatalog, native, type RawTool } from '../../packages/foldout/src/entries/catalog.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  type BoundPrompt,
} from '../../packages/foldout/src/entries/index.ts'
import { catalogSection } from '../../packages/foldout/src/sections/catalog-section.ts'
import type { ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'
import { calls, done } from '../../packages/foldout/src/testing/adapter-stage.ts'
import type { RecordedRequest } from '../providers/mock.ts'
import type { AiPackage } from './host.ts'

const THINGS = ['invoice', 'parcel', 'garden', 'violin', 'ticket']

/** Ten turns: in half of them, a search finds a tool, which is then called; in the fourth, a section is opened. */
export const TEN_TURNS: readonly ModelStep[] = THINGS.flatMap((thing) => [
  calls('search_tools', { query: `print one ${thing}` }),
  calls(`print_${thing}`, {}),
  done,
  ...(thing === 'parcel' ? [calls('read_section', { section_key: 'rain' }), calls('measure_rain', {})] : []),
  done,
])

/** The tools that calls add in these turns and that are called. */
export const ADDED = [...THINGS.map((thing) => `print_${thing}`), 'measure_rain']

export function createDesk(): BoundPrompt {
  const tools = THINGS.flatMap((thing) =>
    ['create', 'print'].map((action): RawTool => {
      const name = `${action}_${thing}`
      const call = async () => ({ content: [{ type: 'text', text: `${name} is done.` }] })
      return { name, description: `Will ${action} one ${thing}.`, call }
    }),
  )
  const measure = defineTool({ name: 'measure_rain', description: 'Measures.', execute: () => ok('3 mm of rain.') })
  const sections = [
    catalogSection(createCatalog(tools), { expose: native() }),
    defineSection({
      key: 'rain',
      title: 'Rain',
      template: 'About rain.',
      summary: 'About rain.',
      visibility: 'summary',
      tools: [measure],
    }),
  ]
  return definePrompt({ ns: 'test', key: 'desk', sections }).bind()
}

/** Runs ten turns, each as after a restart of the process. Returns the messages. */
export async function runTenTurns(
  ai: AiPackage,
  model: LanguageModel,
  { toolAdditions = 'native', isStreamed = false }: { toolAdditions?: 'native' | 'plain'; isStreamed?: boolean } = {},
): Promise<readonly ModelMessage[]> {
  const prompt = createDesk()
  let session = createSession()
  let messages: ModelMessage[] = []
  for (let turn = 1; turn <= 10; turn++) {
    session = createSession({ snapshot: structuredClone(session.snapshot()) })
    messages.push({ role: 'user', content: `Turn ${turn}.` })
    const disclosure = await createDisclosure({ prompt, session, toolAdditions })
    const settings = { model, ...disclosure, messages, stopWhen: ai.stepCountIs(9) }
    const result = isStreamed ? ai.streamText(settings) : await ai.generateText(settings)
    const { responseMessages = (await result.response).messages } = result as {
      readonly responseMessages?: PromiseLike<ModelMessage[]> | ModelMessage[]
    }
    messages = JSON.parse(JSON.stringify([...messages, ...(await responseMessages)])) as ModelMessage[]
  }
  return messages
}

/** The requests whose beginning is not the whole request before, by their place. */
export function findBreaks(requests: readonly RecordedRequest[], field: 'messages' | 'input'): readonly number[] {
  const parts = requests.map(({ body }) => {
    const tools = (body['tools'] as readonly { readonly defer_loading?: boolean }[]).filter(
      (tool) => !tool.defer_loading,
    )
    return {
      start: JSON.stringify([tools, body['system']]),
      list: (body[field] as readonly object[]).map((item) => JSON.stringify(item)),
    }
  })
  return parts.flatMap(({ start, list }, at) => {
    const before = parts[at - 1]
    if (before === undefined) return []
    const isKept = start === before.start && before.list.every((item, index) => item === list[index])
    return isKept ? [] : [at]
  })
}
