import { createSession, defineParams, definePrompt, defineSection, parseOutput } from 'foldout'
import { readSkill } from 'foldout/skills'
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

export const promptDoors: readonly AnyDoor[] = [
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
  jsonDoor('snapshot of a session', (json) => createSession({ snapshot: json as never })),
  jsonDoor('slice of a snapshot', (json) =>
    createSession({ snapshot: { version: 1, slices: { visibility: { version: 1, state: json } } } }),
  ),
  jsonDoor('event of a session', (json) => createSession().dispatch({ type: 'visibility/set', payload: json })),
]

/** The JSON that a model would have sent; empty if JavaScript cannot write the value. */
function stringify(json: unknown): string {
  try {
    return JSON.stringify(json)
  } catch {
    return '{}'
  }
}
