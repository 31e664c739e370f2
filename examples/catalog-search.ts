// One catalog of tools from several sources: searched in a user's words, explained, and called.
import assert from 'node:assert/strict'
import { createCatalog, formatSignature, type RawTool } from 'foldout/catalog'
import { defineTool, ok } from 'foldout'
import * as z from 'zod'

const sendInvoice = defineTool({
  name: 'send_invoice',
  description: 'Send an invoice to a customer by e-mail.',
  params: z.object({ customer: z.string(), amount: z.number().positive(), currency: z.enum(['EUR', 'USD']) }),
  execute: ({ customer, amount, currency }) => ok(`Sent an invoice of ${amount} ${currency} to ${customer}.`),
})

// Tools as other systems, such as MCP servers, define them. Two of them have a tool with the same name.
const raw = (source: string, name: string, description: string, field: string): RawTool => ({
  source,
  name,
  description,
  inputSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] },
  call: async (args) => ({ content: [{ type: 'text', text: `${source} did ${name} with ${JSON.stringify(args)}.` }] }),
})

const catalog = createCatalog(
  [
    sendInvoice,
    raw('github', 'create_issue', 'Open an issue in a repository to report a bug.', 'title'),
    raw('jira', 'create_issue', 'Create a ticket in a project.', 'summary'),
    raw('github', 'merge_pull_request', 'Merge a pull request into its base branch.', 'number'),
    raw('weather', 'get_forecast', 'Weather forecast for a city: temperature, rain and wind.', 'city'),
    raw('travel', 'search_flights', 'Find flights between two airports.', 'route'),
    { name: '', description: 'A definition that is not a tool.' },
  ],
  { sources: { github: 'Repositories, issues and pull requests', jira: 'Tickets of the help desk' } },
)

title('Each tool has a name for clients, a qualified one, and its own')
for (const { name, qualified, declared } of catalog.tools)
  console.log(`${name.padEnd(20)} ${qualified.padEnd(28)} ${declared}`)
console.log(`broken: ${catalog.broken.map(({ reason }) => reason).join(' ')}`)
const names = catalog.tools.map((tool) => tool.name)
assert.equal(new Set(names).size, 6)
assert(names.includes('send_invoice'), 'a unique name stays short')
assert(!names.includes('create_issue'), 'an ambiguous name gets its source')
assert.equal(catalog.broken.length, 1)

title('Search')
for (const query of [
  'charge a customer',
  'will it rain tomorrow',
  'book a flight and tell me the weather',
  'jira issue',
]) {
  const { hits, parts } = await catalog.search(query, { limit: 2 })
  console.log(`${query}${parts.length > 1 ? ` (${parts.length} parts)` : ''}`)
  for (const { tool } of hits) console.log(`  ${formatSignature(tool)}`)
}
const first = async (query: string): Promise<string | undefined> =>
  (await catalog.search(query)).hits[0]?.tool.qualified
assert.equal(await first('charge a customer'), 'send_invoice')
assert.equal(await first('will it rain tomorrow'), 'weather/get_forecast')
assert.equal(await first('jira issue'), 'jira/create_issue')

title('Why it was found')
const explanation = (await catalog.explain('report a bug on github', 'github/create_issue'))!
for (const { word, matched, fields, score } of explanation.words)
  console.log(`${word.padEnd(8)} matched ${matched.padEnd(8)} in ${fields.join(', ')}: ${score.toFixed(2)}`)
assert(explanation.words.some(({ word }) => word === 'bug'))

title('Nothing fits')
const nothing = await catalog.search('knead the dough of a sourdough bread')
console.log(`fit: ${nothing.fit}, guesses: ${nothing.hits.map(({ tool }) => tool.name).join(', ') || 'none'}`)
assert.notEqual(nothing.fit, 'good')

title('Calls are checked before they run')
const wrong = await catalog.call('send_invoice', { customer: 'ACME', amount: -5, currency: 'EUR' })
const right = await catalog.call('send_invoice', { customer: 'ACME', amount: 50, currency: 'EUR' })
for (const { content } of [wrong, right]) console.log(content[0]!['text'])
assert(wrong.isError && !right.isError)

function title(text: string): void {
  console.log(`\n━━ ${text} ━━\n`)
}
