import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { catalogSection, createCatalog, hybrid } from 'foldout/catalog'
import * as z from 'zod'

const rules = (what: string): string =>
  Array.from({ length: 150 }, (_, i) => `Rule ${i + 1} about ${what} holds.`).join(' ')
const tool = (name: string, description: string) =>
  defineTool({ name, description, params: z.object({ order: z.string() }), execute: () => ok('Done.') })
const desk = (key: string, what: string) =>
  defineSection({
    key,
    title: what,
    template: rules(what),
    summary: `About ${what}.`,
    visibility: 'summary',
    tools: [tool(`handle_${key}`, `Handles ${what}.`)],
  })

/** Two desks, of which a conversation needs the one that its first message names. */
export const desks = definePrompt({
  ns: 'desk',
  key: 'desks',
  sections: [desk('parcels', 'lost parcels and delivery'), desk('invoices', 'wrong invoices and payments')],
}).bind()

const devices = Array.from({ length: 40 }, (_, i) => tool(`measure_${i}`, rules(`sensor ${i}`).slice(0, 600)))

/** A catalog, of which a conversation needs one tool. */
export const office = definePrompt({
  ns: 'desk',
  key: 'office',
  sections: [
    defineSection({ key: 'role', title: 'Role', template: rules('letters') }),
    catalogSection(createCatalog([tool('send_mail', 'Sends a mail.'), ...devices]), { expose: hybrid() }),
  ],
}).bind()
