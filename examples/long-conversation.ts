// An agent that reads 200 reports of 6 to 30 kB in one conversation: old results fold back, and nothing is lost.
import assert from 'node:assert/strict'
import { definePrompt, defineSection, defineTool, estimatedTokens, ok, runAgent } from 'foldout'
import { calls, says, scriptedAdapter } from 'foldout/testing'

const TURNS = 200
const WINDOW = 64_000

const getReport = (day: number): string =>
  Array.from(
    { length: 100 + ((day * 37) % 400) },
    (_, hour) => `day ${day}, hour ${hour}: ${(day * hour) % 97} orders, none late`,
  ).join('\n')

const readReport = defineTool({
  name: 'read_report',
  description: 'Read the report of a day.',
  params: { type: 'object', properties: { day: { type: 'integer' } }, required: ['day'] },
  execute: ({ day }) => ok(getReport(Number(day))),
})
const desk = definePrompt({
  ns: 'shop',
  key: 'reports',
  sections: [defineSection({ key: 'task', title: 'Task', template: 'Summarize the reports.', tools: [readReport] })],
})

// The model reads a report in each turn. At the end it needs one line of the third report, which was folded long ago.
const adapter = scriptedAdapter([
  ...Array.from({ length: TURNS }, (_, day) => calls('read_report', { day })),
  calls('read_result', { result: 'r3', grep: 'hour 20:' }),
  says('On day 2, there were 40 orders at 20:00.'),
])
const folds: string[] = []
const { messages } = await runAgent(desk.bind({}), {
  adapter,
  input: 'Read the reports one by one.',
  contextWindow: WINDOW,
  maxTurns: TURNS + 2,
  onEvent: (event) => event.type === 'results/folded' && folds.push(event.reason),
})

const sizes = adapter.requests.map(({ messages: sent }) => estimatedTokens.count(JSON.stringify(sent)))
const whole = estimatedTokens.count(JSON.stringify(messages))
assert(Math.max(...sizes) <= WINDOW)
assert(whole > 10 * WINDOW)
const results = messages.filter((message) => message.role === 'tool')
for (let day = 0; day < TURNS; day++) assert.equal(results[day]?.text, getReport(day))
assert.match(results.at(-1)?.text ?? '', /day 2, hour 20: 40 orders/)
console.log(
  `${TURNS} turns, ${folds.length} folds. The conversation has ${whole} tokens; no request had more than ${Math.max(...sizes)}.\n` +
    `All ${results.length - 1} reports are in it word for word, and the model has read a line of the third one again.`,
)
