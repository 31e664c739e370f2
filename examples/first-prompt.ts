// A prompt with a folded section: what the model sees first, and what it sees once it has opened the section.
import assert from 'node:assert/strict'
import { createSession, definePrompt, defineSection, defineTool, executeTool, md, ok } from 'foldout'
import { visibility } from 'foldout/session'
import * as z from 'zod'

const findDecision = defineTool({
  name: 'find_decision',
  description: 'Find a past design decision by topic.',
  params: z.object({ topic: z.string().describe('One or two words') }),
  execute: ({ topic }) => ok(`Decision on ${topic}: tokens are signed, never encrypted.`, { topic }),
})

const task = defineSection({ key: 'task', title: 'Task', template: 'Complete the following: ${objective}' })

const context = defineSection({
  key: 'context',
  title: 'Project context',
  params: z.object({ projectName: z.string() }),
  template: md`
    ${'projectName'} is a web service with an HTTP front end, a job queue and two databases. Requests are authenticated at the
    edge; the services behind it trust the signed header and never see a password.

    - The front end is stateless. A session is a signed token with a lifetime of one hour, renewed on use.
    - Every change to authentication needs a decision on record. Use find_decision before you propose one.
    - Passwords are hashed with scrypt; the parameters are in config/auth.toml and are raised once a year.
    - Tests against the real identity provider run every night, not on each commit.
  `,
  summary: 'Architecture, conventions and past decisions of ${projectName} are available.',
  visibility: 'summary',
  tools: [findDecision],
  children: [
    defineSection({
      key: 'style',
      title: 'Code style',
      template: 'Small functions, no classes, errors as values at the edges.',
    }),
  ],
})

const assistant = definePrompt({ ns: 'agents', key: 'assistant', sections: [task, context] })
const bound = assistant.bind({ objective: 'Refactor the authentication module', projectName: 'Acme' })
const session = createSession()

const first = bound.render({ session })
show('What the model sees first', first)
assert.deepEqual(first.summarized, ['context'])
assert.deepEqual(
  first.tools.map((tool) => tool.name),
  ['read_section'],
)

// The model would call read_section. Here we call it ourselves, as the agent loop would.
const readSection = first.tools.at(-1)!
const result = await executeTool(
  readSection,
  { section_key: 'context' },
  {
    session,
    signal: new AbortController().signal,
    deadline: undefined,
    filesystem: undefined,
    prompt: first,
  },
)
assert(result.ok && result.opening)
assert(result.message.startsWith('# Project context\n\nAcme is a web service'))
for (const path of result.opening.paths) session.dispatch(visibility.events.set({ path, visibility: 'full' }))

const second = bound.render({ session })
show('What it sees once it has opened `context`', second)
assert.deepEqual(second.summarized, [])
assert.deepEqual(
  second.tools.map((tool) => tool.name),
  ['find_decision'],
)
assert(
  second.text.startsWith(first.text.slice(0, first.text.indexOf('## 2'))),
  'what comes before the section is unchanged',
)
assert(first.tokens.total < first.tokensIfAllOpen.total)

function show(title: string, rendered: typeof first): void {
  const { tokens, tokensIfAllOpen } = rendered
  const figure = (count: typeof tokens): string => `${count.exact ? '' : '~'}${count.total}`
  console.log(`\n━━ ${title} ━━\n`)
  console.log(rendered.text)
  console.log(`\n   tools   ${rendered.tools.map((tool) => tool.name).join(', ')}`)
  console.log(
    `   tokens  ${figure(tokens)} now, ${figure(tokensIfAllOpen)} with everything open (counted by ${tokens.counter})`,
  )
}
