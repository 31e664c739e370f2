import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { generateText, jsonSchema, stepCountIs, tool as aiTool, type ToolSet } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { NO_USAGE, chatAdapter, type ChatReply } from 'foldout/adapter'
import { definePrompt, defineSection, defineTool, ok, runAgent } from 'foldout'
import * as z from 'zod'
import type { Contender } from './measure.ts'
import { progress } from './report.ts'
import { installPackages } from '../tools/install-packages.ts'

/** Turns with one call each, before the answer. */
const TOOL_TURNS = 20
export const TURNS = TOOL_TURNS + 1

export const FOLDOUT = 'foldout'
export const AI_SDK = 'AI SDK'
export const AI_SDK_UNCHECKED = 'AI SDK, JSON Schema, arguments unchecked'
export const OPENAI_AGENTS = '@openai/agents'

const SYSTEM = 'You look things up with the tools you have, one after the other, and then answer in one sentence.'
const INPUT = 'Look everything up.'
const ANSWER = 'All is well.'
const RESULT = 'Found 3 records: A-17, B-4 and C-112.'

const toolName = (index: number): string => `look_up_${index}`
const describeTool = (index: number): string => `Looks up the records of department ${index} by words and by date.`
const nameAt = (turn: number, tools: number): string => toolName((turn * 7) % tools)
const ARGUMENTS = { query: 'open claims', limit: 10 } as const
const params = z.object({ query: z.string().describe('Words to look for'), limit: z.number().int().max(50) })
const PARAMS_SCHEMA = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Words to look for' },
    limit: { type: 'integer', maximum: 50 },
  },
  required: ['query', 'limit'],
  additionalProperties: false,
} as const

/** Each library's loop, with an in-process model that calls one tool per turn and then answers. */
export async function loopContenders(tools: number): Promise<readonly Contender[]> {
  const others = await openAiAgents(tools)
  const contenders = [foldout(tools), aiSdk(tools), aiSdkUnchecked(tools), ...(others ? [others] : [])]
  for (const { name, run } of contenders) {
    const answer = await run()
    if (answer !== ANSWER) throw new Error(`${name} answers ${JSON.stringify(answer)}.`)
  }
  return contenders
}

function foldout(tools: number): Contender {
  const lookUps = Array.from({ length: tools }, (_, i) =>
    defineTool({ name: toolName(i), description: describeTool(i), params, execute: () => ok(RESULT) }),
  )
  const bound = definePrompt({
    ns: 'bench',
    key: 'loop',
    sections: [defineSection({ key: 'work', title: 'Work', template: SYSTEM, tools: lookUps })],
  }).bind()
  const reply = (turn: number): ChatReply => ({
    message:
      turn < TOOL_TURNS
        ? {
            role: 'assistant',
            text: '',
            toolCalls: [{ id: `call-${turn}`, name: nameAt(turn, tools), arguments: ARGUMENTS }],
          }
        : { role: 'assistant', text: ANSWER, toolCalls: [] },
    usage: NO_USAGE,
  })
  return {
    name: FOLDOUT,
    operations: TURNS,
    async run() {
      let turn = 0
      const adapter = chatAdapter({ name: 'bench', model: 'bench', complete: async () => reply(turn++) })
      const { text, turns } = await runAgent(bound, { adapter, input: INPUT })
      expectTurns(turns.length)
      return text
    },
  }
}

function aiSdk(tools: number): Contender {
  const set = toolSet(tools, (i) =>
    aiTool({ description: describeTool(i), inputSchema: params, execute: async () => RESULT }),
  )
  return { name: AI_SDK, operations: TURNS, run: () => generate(tools, set) }
}

function aiSdkUnchecked(tools: number): Contender {
  const inputSchema = jsonSchema<typeof ARGUMENTS>({ ...PARAMS_SCHEMA, required: [...PARAMS_SCHEMA.required] })
  const set = toolSet(tools, (i) => aiTool({ description: describeTool(i), inputSchema, execute: async () => RESULT }))
  return { name: AI_SDK_UNCHECKED, operations: TURNS, run: () => generate(tools, set) }
}

function toolSet(tools: number, make: (index: number) => ToolSet[string]): ToolSet {
  return Object.fromEntries(Array.from({ length: tools }, (_, i) => [toolName(i), make(i)]))
}

async function generate(count: number, tools: ToolSet): Promise<string> {
  let turn = 0
  const usage = {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  }
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      const at = turn++
      if (at === TOOL_TURNS) {
        return {
          content: [{ type: 'text', text: ANSWER }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        }
      }
      return {
        content: [
          {
            type: 'tool-call',
            toolCallId: `call-${at}`,
            toolName: nameAt(at, count),
            input: JSON.stringify(ARGUMENTS),
          },
        ],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
  const { text, steps } = await generateText({
    model,
    tools,
    system: SYSTEM,
    prompt: INPUT,
    stopWhen: stepCountIs(TURNS + 1),
  })
  expectTurns(steps.length)
  return text
}

/** The small part of `@openai/agents` that is used here. It may not be installed. */
interface OpenAiAgents {
  readonly Agent: new (options: object) => object
  readonly Usage: new () => object
  tool(options: object): object
  run(agent: object, input: string, options: object): Promise<{ readonly finalOutput: unknown }>
  setTracingDisabled(isDisabled: boolean): void
}

async function openAiAgents(tools: number): Promise<Contender | undefined> {
  const sdk = await installed('@openai/agents')
  if (!sdk) return undefined
  sdk.setTracingDisabled(true)
  const list = Array.from({ length: tools }, (_, i) =>
    sdk.tool({ name: toolName(i), description: describeTool(i), parameters: params, execute: async () => RESULT }),
  )
  const output = (turn: number): object =>
    turn < TOOL_TURNS
      ? {
          type: 'function_call',
          callId: `call-${turn}`,
          name: nameAt(turn, tools),
          arguments: JSON.stringify(ARGUMENTS),
          status: 'completed',
        }
      : { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: ANSWER }] }
  return {
    name: OPENAI_AGENTS,
    operations: TURNS,
    async run() {
      let turn = 0
      const model = { getResponse: async () => ({ usage: new sdk.Usage(), output: [output(turn++)] }) }
      const agent = new sdk.Agent({ name: 'bench', instructions: SYSTEM, model, tools: list })
      const { finalOutput } = await sdk.run(agent, INPUT, { maxTurns: TURNS + 1 })
      expectTurns(turn)
      return finalOutput
    },
  }
}

/** Loaded from a separate folder and installed on first use, because it is larger than everything else combined. */
async function installed(name: string): Promise<OpenAiAgents | undefined> {
  const folder = fileURLToPath(new URL('peers', import.meta.url))
  try {
    installPackages(folder, { onInstall: () => progress(`installing ${name} in bench/peers ...`) })
    const entry = createRequire(join(folder, 'package.json')).resolve(name)
    return (await import(pathToFileURL(entry).href)) as OpenAiAgents
  } catch (error) {
    if (String((error as { readonly code?: unknown }).code).endsWith('MODULE_NOT_FOUND')) return undefined
    throw error
  }
}

function expectTurns(turns: number): void {
  if (turns !== TURNS) throw new Error(`The run took ${turns} turns, not ${TURNS}.`)
}
