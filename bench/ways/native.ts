import assert from 'node:assert/strict'
import { definePrompt, defineSection, runAgent, type TokenCounter } from 'foldout'
import { chatAdapter, type ChatReply, type ChatRequest } from 'foldout/adapter'
import { catalogSection, createCatalog, hybrid, native, type CatalogEntry, type Exposure } from 'foldout/catalog'
import { CATALOG_AGENT, getTasks, type Task } from '../catalog-cost.ts'
import { sampleArguments } from '../catalog-model.ts'
import { goal, type Goal, type Row } from '../report.ts'
import { bill, OUTPUT_RATE, PRICES, toPieces, type Pieces } from './billing.ts'
import { makeText } from './texts.ts'

const SIZES = [50, 200, 1_000]
/** How often a task calls the tool that it needs. */
const CALLS = [1, 3]
const RESULT_TOKENS = 150
const ANSWER_TOKENS = 80

/** The same tasks with found tools that are added to the conversation, and with `use_tool`. */
export async function computeNative(
  counter: TokenCounter,
): Promise<{ readonly rows: readonly Row[]; readonly goals: readonly Goal[] }> {
  const rows: Row[] = []
  const goals: Goal[] = []
  for (const size of SIZES) {
    for (const calls of CALLS) {
      const tasks = getTasks(size)
      const old = await work(hybrid(), { ...tasks, calls, counter })
      const own = await work(native(), { ...tasks, calls, counter })
      for (const price of PRICES) {
        for (const start of ['cold', 'warm'] as const) {
          const agent = `${CATALOG_AGENT.replace('1,000', String(size))}, ${calls} calls, ${price.name}, ${start}`
          const sum = ({ conversations, output }: Work): number =>
            conversations.reduce((all, each) => all + bill(each, price, { start, shared: 2 }), output * OUTPUT_RATE)
          const [before, now] = [sum(old), sum(own)]
          rows.push(
            { agent, strategy: 'hybrid()', adapter: 'in place', requests: old.requests, billed: Math.round(before) },
            {
              agent,
              strategy: 'native()',
              adapter: 'in place',
              requests: own.requests,
              billed: Math.round(now),
              billedSaving: `${((1 - now / before) * 100).toFixed(1)} %`,
            },
          )
          goals.push(goal(`${agent}: native(), as a share of hybrid()`, now / before, '<=', 1))
        }
      }
    }
  }
  return { rows, goals }
}

interface Work {
  readonly conversations: readonly (readonly Pieces[])[]
  readonly requests: number
  /** The tokens that the model wrote. */
  readonly output: number
}

interface WorkOptions {
  readonly tools: readonly CatalogEntry[]
  readonly tasks: readonly Task[]
  readonly calls: number
  readonly counter: TokenCounter
}

/** Runs every task by the real loop, with a model that searches, calls what it found, and answers. */
async function work(expose: Exposure, { tools, tasks, calls, counter }: WorkOptions): Promise<Work> {
  const answer = { content: [{ type: 'text', text: makeText('result', RESULT_TOKENS) }] }
  const catalog = createCatalog(
    tools.map(({ declared, source, description, inputSchema }) => ({
      name: declared,
      ...(source !== undefined && { source }),
      description,
      inputSchema,
      call: async () => answer,
    })),
  )
  const task = defineSection({
    key: 'task',
    title: 'Task',
    template: 'Do what the user asks for with the tools you have.',
  })
  const prompt = definePrompt({
    ns: 'bench',
    key: 'native',
    sections: [task, catalogSection(catalog, { expose })],
  }).bind()
  const conversations: Pieces[][] = []
  let output = 0
  for (const { query, wanted } of tasks) {
    const pieces: Pieces[] = []
    const words = [query, wanted.shortDescription, wanted.declared.replaceAll(/[^a-zA-Z0-9]+/g, ' ')]
    const model = chatAdapter({
      name: 'bench',
      model: 'bench',
      addsInPlace: true,
      async complete(request) {
        pieces.push(toPieces(toTexts(request), counter))
        const message = reply(request, { wanted, words, calls })
        output += counter.count(
          JSON.stringify([message.text, message.toolCalls.map((call) => [call.name, call.arguments])]),
        )
        return { message, usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 } }
      },
    })
    const { status } = await runAgent(prompt, { adapter: model, input: query, refold: false })
    assert.equal(status, 'completed')
    conversations.push(pieces)
  }
  return { conversations, requests: conversations.flat().length, output }
}

interface Aim {
  readonly wanted: CatalogEntry
  readonly words: readonly string[]
  readonly calls: number
}

/** Calls the tool as often as the task needs it, once it has seen it; otherwise searches with other words. */
function reply({ messages, tools, addedTools }: ChatRequest, { wanted, words, calls }: Aim): ChatReply['message'] {
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
  const searches = results.filter(({ name }) => name === 'search_tools')
  const done = results.length - searches.length
  const isOwn = addedTools.has(wanted.name) || tools.some(({ name }) => name === wanted.name)
  const isSeen =
    isOwn || searches.some(({ text }) => text.split('\n').some((line) => line.startsWith(`${wanted.name}(`)))
  const say = (text: string): ChatReply['message'] => ({ role: 'assistant', text, toolCalls: [] })
  const call = (name: string, args: object): ChatReply['message'] => {
    return { role: 'assistant', text: '', toolCalls: [{ id: `c${results.length}`, name, arguments: args }] }
  }
  if (isSeen && done < calls) {
    const args = sampleArguments(wanted)
    return isOwn ? call(wanted.name, args) : call('use_tool', { name: wanted.name, arguments: args })
  }
  const query = words[searches.length]
  if (isSeen || query === undefined) return say(makeText('answer', ANSWER_TOKENS))
  return call('search_tools', { query })
}

/** What a request sends, in the order in which providers read it. Tools are defined where they are added. */
function toTexts({ system, tools, addedTools, messages }: ChatRequest): readonly string[] {
  const define = ({ name, description, inputSchema }: (typeof tools)[number]): string =>
    JSON.stringify({ name, description, inputSchema })
  const said = messages.map((message) => {
    if (message.role !== 'tools') return JSON.stringify(message)
    return message.names
      .flatMap((name) => addedTools.get(name) ?? [])
      .map(define)
      .join('\n')
  })
  return [tools.map(define).join('\n'), system, ...said]
}
