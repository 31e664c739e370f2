import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import * as z from 'zod'

const rules = (what: string): string =>
  Array.from({ length: 150 }, (_, i) => `Rule ${i + 1} about ${what} holds.`).join(' ')
const desk = (key: string, what: string) =>
  defineSection({
    key,
    title: what,
    template: rules(what),
    summary: `About ${what}.`,
    visibility: 'summary',
    tools: [
      defineTool({
        name: `handle_${key}`,
        description: `Handles ${what}.`,
        params: z.object({ order: z.string() }),
        execute: () => ok('Done.'),
      }),
    ],
  })

/** Two desks, of which a conversation needs the one that its first message names. */
export const desks = definePrompt({
  ns: 'desk',
  key: 'desks',
  sections: [desk('parcels', 'lost parcels and delivery'), desk('invoices', 'wrong invoices and payments')],
}).bind()
