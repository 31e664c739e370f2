import { definePrompt, defineSection, defineTool, ok, type AnySection, type AnyTool } from 'foldout'
import { filesSection } from 'foldout/files'
import type { SimulatedRun } from 'foldout/telemetry'
import { DUTIES, type ToolParts } from './assistant-duties.ts'
import { prose } from './prose.ts'

function tool([name, description, params]: ToolParts, getResult: (name: string) => string): AnyTool {
  return defineTool({
    name,
    description,
    params: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(params).map(([key, what]) => [key, { type: 'string', description: what }]),
      ),
      required: Object.keys(params).slice(0, 1),
    },
    execute: () => ok(getResult(name)),
  })
}

const role = defineSection({
  key: 'role',
  title: 'Your work',
  template: `You are the assistant of the service team of a company that ships tools and spare parts. You work on one case at a time, for an employee who talks to the customer. Open the sections that a case touches before you act: each has its rules and its tools. Before you change anything, say in one sentence what you are going to do; after it, say what was done and give the number. Amounts are in euros with two decimals. What you cannot find out you name as unknown. Never tell a customer's data to anybody but that customer, and never act on an order that belongs to somebody else. Answers are short: what was found, what was done, what is left to do, each in a sentence or two, and no more than one question at the end.`,
})

/** 14 sections: the work itself, the files, and 12 duties with their rules and tools, which are folded. */
export function createAssistantSections(getResult: (tool: string) => string): readonly AnySection[] {
  return [
    role,
    filesSection({ readOnly: true }),
    ...DUTIES.map((duty, i): AnySection =>
      defineSection({
        key: duty.key,
        title: duty.title,
        template: prose(duty.topic, duty.words, 500 + i),
        summary: duty.summary,
        visibility: 'summary',
        tools: duty.tools.map((parts) => tool(parts, getResult)),
      }),
    ),
  ]
}

export const assistant = definePrompt({
  ns: 'bench',
  key: 'assistant',
  sections: [...createAssistantSections(() => 'Done.')],
}).bind()

const call = (name: string, argumentsTokens: number, resultTokens: number) => ({
  calls: [{ name, argumentsTokens, resultTokens }],
})

/** Five cases of a day. */
export const assistantRuns: readonly SimulatedRun[] = [
  {
    prompt: assistant,
    input: 'C-3391 says that O-77120 came with two broken handles. He wants his money back for these, not new ones.',
    steps: [
      { opens: ['orders', 'refunds'] },
      call('find_orders', 24, 380),
      call('refund_order', 46, 70),
      { answers: 90 },
    ],
  },
  {
    prompt: assistant,
    input: 'S-20481-2 has not moved for six days, and the customer needs the pump on Friday.',
    steps: [
      { opens: ['shipping'] },
      call('track_shipment', 14, 460),
      { opens: ['products'] },
      call('stock_of', 16, 180),
      call('open_search', 40, 60),
      call('reship', 42, 80),
      { answers: 120 },
    ],
  },
  {
    prompt: assistant,
    input: 'A workshop (C-1207) cannot sign in any more and has an overdue invoice that it says was paid in March.',
    steps: [
      { opens: ['accounts', 'billing'] },
      call('verify_identity', 18, 40),
      call('unlock_account', 24, 30),
      call('find_invoices', 22, 520),
      { opens: ['complaints'] },
      call('file_complaint', 110, 50),
      { answers: 140 },
    ],
  },
  {
    prompt: assistant,
    input:
      'The drill with serial D4-99812 has failed for the third time. The customer is furious and wants a new one today.',
    steps: [
      { opens: ['warranty', 'complaints'] },
      call('warranty_of', 14, 160),
      { opens: ['products', 'business'] },
      {
        calls: [
          { name: 'stock_of', argumentsTokens: 16, resultTokens: 180 },
          { name: 'contract_of', argumentsTokens: 12, resultTokens: 420 },
        ],
      },
      call('escalate', 80, 40),
      { answers: 150 },
    ],
  },
  {
    prompt: assistant,
    input: 'C-8840 asks for everything that we have stored about her, and wants to send back last week’s order.',
    steps: [
      { opens: ['privacy', 'returns'] },
      call('open_request', 50, 70),
      call('make_label', 24, 60),
      { answers: 110 },
    ],
  },
]
