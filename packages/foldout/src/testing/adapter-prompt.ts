import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { fail, ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'

const params = {
  type: 'object',
  properties: { city: { type: 'string', description: 'Its name.' } },
  required: ['city'],
  additionalProperties: false,
} as const

/** Slower for the first city, so results come out of order unless the adapter sorts them. */
const forecast = defineTool({
  name: 'forecast',
  description: 'Tells the weather of tomorrow.',
  params,
  async execute({ city }) {
    if (city === 'Oslo') await new Promise((resolve) => setTimeout(resolve, 30))
    return ok(`${String(city)}: sun.`)
  },
})
const refuse = defineTool({
  name: 'refuse',
  description: 'Fails.',
  execute: () => fail('There is no weather on the moon.'),
})
const explode = defineTool({
  name: 'explode',
  description: 'Throws.',
  execute() {
    throw new Error('The sensor burned down.')
  },
})

/** Has a schema that real servers use but no provider accepts: a union, and gaps. */
const note = defineTool({
  name: 'note',
  description: 'Keeps a note.',
  params: {
    type: 'object',
    anyOf: [
      { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      { type: 'object', properties: { lines: { type: 'array' }, more: { type: 'object' } }, required: ['lines'] },
    ],
  },
  execute: () => ok('Noted.'),
})

const defineFoldedSection = (key: string, title: string) =>
  defineSection({
    key,
    title,
    template: `All about ${key}.`,
    summary: `Some about ${key}.`,
    visibility: 'summary',
    tools: [
      defineTool({
        name: `measure_${key}`,
        description: `Measures ${key}.`,
        params,
        execute: ({ city }) => ok(`${key} in ${String(city)}: 5.`),
      }),
    ],
  })

const sections = [
  defineSection({
    key: 'intro',
    title: 'Intro',
    template: 'You are a weather service – “precise” & brief.',
    tools: [forecast, refuse, explode, note],
  }),
  defineFoldedSection('rain', 'Rain'),
  defineFoldedSection('wind', 'Wind'),
  defineFoldedSection('snow', 'Snow'),
]

export const weatherPrompt = definePrompt({ ns: 'suite', key: 'weather', sections }).bind()

export const OUTPUT_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
} as const

export const weatherPromptWithOutput = definePrompt({
  ns: 'suite',
  key: 'weather-output',
  sections,
  output: OUTPUT_SCHEMA,
}).bind()
