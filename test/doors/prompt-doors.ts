import {
  createSession,
  defineParams,
  definePrompt,
  defineSection,
  parseOutput,
  runAgent,
  type AgentInput,
  type ProviderAdapter,
} from 'foldout'
import { NO_USAGE } from 'foldout/adapter'
import { skillsFromMcp, type McpSession } from 'foldout/mcp'
import { checkSkillsLock, markdownSections, readSkill } from 'foldout/skills'
import { jsonDoor, textDoor, type AnyDoor } from './door.ts'

const bound = definePrompt({
  ns: 'doors',
  key: 'bound',
  sections: [
    defineSection({
      key: 'a',
      title: 'A',
      params: defineParams<{ x: string }>(),
      summary: 'About ${x}',
      template: 'Before ${x} after',
      visibility: 'summary',
    }),
  ],
})
const answer = {
  type: 'object',
  properties: { a: { type: 'string' }, list: { type: 'array', items: { type: 'object' } } },
  required: ['a'],
  additionalProperties: false,
}

const seeing: ProviderAdapter = {
  name: 'doors',
  model: 'm',
  supportsDynamicTools: true,
  refuseInput: () => undefined,
  evaluate: async () => ({ type: 'final', text: 'Seen.', usage: NO_USAGE }),
}
const say = (input: unknown): unknown =>
  runAgent(bound.bind({ x: '1' }), { adapter: seeing, input: input as AgentInput })

/** A server that answers every request alike. */
function skillServer(result: Readonly<Record<string, unknown>>): McpSession {
  const capabilities = { extensions: { 'io.modelcontextprotocol/skills': {} } }
  return {
    era: 'modern',
    server: { info: { name: 'doors' }, capabilities, instructions: undefined, protocolVersion: '2026-07-28' },
    isConnected: true,
    closed: new Promise(() => undefined),
    request: async () => result,
    notify: async () => undefined,
    listen: async () => Promise.reject(new Error('Not here.')),
    onNotification: () => () => undefined,
    close: async () => undefined,
  }
}

export const promptDoors: readonly AnyDoor[] = [
  jsonDoor('input of a run', say),
  jsonDoor('parts of an input', (json) => say([{ type: 'text', text: 'See.' }, json])),
  textDoor('data of an image', (data) => say([{ type: 'image', data, mediaType: 'image/png' }])),
  textDoor('address of an image', (url) => say([{ type: 'image', url }])),
  textDoor('data: URL of a file', (text) =>
    say([{ type: 'file', url: `data:text/plain,${encodeURIComponent(Buffer.from(text).toString())}` }]),
  ),
  textDoor('name and media type of a file', (text) =>
    say([{ type: 'file', data: 'AAAA', mediaType: text, name: text }]),
  ),
  textDoor(
    'template of a section',
    (template) =>
      definePrompt({ ns: 'doors', key: 'p', sections: [defineSection({ key: 'a', title: 'A', template })] })
        .bind({})
        .render().text,
  ),
  textDoor(
    'title of a section',
    (title) =>
      definePrompt({ ns: 'doors', key: 'p', sections: [defineSection({ key: 'a', title, template: 'x' })] })
        .bind({})
        .render().text,
  ),
  textDoor('value of a prompt', (x) => bound.bind({ x }).render().text),
  textDoor('answer of a model', (text) => parseOutput(answer, text)),
  jsonDoor('answer of a model as JSON', (json) => parseOutput(answer, stringify(json))),
  jsonDoor('schema of an answer', (schema) => parseOutput(schema as { type: 'object' }, '{"a": [1, {"b": 2}]}')),
  textDoor('skill', (text) => readSkill(text, 'SKILL.md'), { size: 500 }),
  textDoor(
    'front matter of a skill',
    (text) => readSkill(`---\nname: a\ndescription: b\nmore: ${text}\n---\nBody`, 'SKILL.md'),
    { size: 500 },
  ),
  textDoor(
    'keys of the front matter',
    (text) =>
      readSkill(
        `---\nname: a\ndescription: b\n${text.replaceAll(/./gsu, (_, at: number) => `k${at}: v\n`)}---\n`,
        'SKILL.md',
      ),
    { size: 200 },
  ),
  textDoor('Markdown that is folded by its headings', (text) => markdownSections(text)),
  textDoor('lock of skills', (text) => checkSkillsLock([], text)),
  jsonDoor('list of skills of a server', (json) => skillsFromMcp(skillServer({ skills: json }))),
  jsonDoor('skill of a server', (json) => skillsFromMcp(skillServer({ skills: [json] }))),
  jsonDoor('front matter of a skill of a server', (json) =>
    skillsFromMcp(
      skillServer({
        skills: [
          {
            uri: 'skill://a/SKILL.md',
            frontmatter: { name: 'a', description: 'b', metadata: json },
            resources: 'dynamic',
          },
        ],
      }),
    ),
  ),
  jsonDoor('snapshot of a session', (json) => createSession({ snapshot: json as never })),
  jsonDoor('slice of a snapshot', (json) =>
    createSession({ snapshot: { version: 1, slices: { visibility: { version: 1, state: json } } } }),
  ),
  jsonDoor('event of a session', (json) => createSession().dispatch({ type: 'visibility/set', payload: json })),
]

/** The JSON that a model would have sent; empty if JavaScript cannot serialize the value. */
function stringify(json: unknown): string {
  try {
    return JSON.stringify(json)
  } catch {
    return '{}'
  }
}
