// What the examples of other people's loops share: a prompt with a folded section and a catalog, and the script of a model.
import assert from 'node:assert/strict'
import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { catalogSection, createCatalog, hybrid } from 'foldout/catalog'
import * as z from 'zod'

const params = z.object({ order: z.string() })
const done: string[] = []
const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order in full.',
  params,
  execute: ({ order }) => (done.push(`refunded ${order}`), ok(`Order ${order} is refunded.`)),
})
const trackParcel = defineTool({
  name: 'track_parcel',
  description: 'Say where the parcel of an order is.',
  params,
  execute: ({ order }) => (done.push(`tracked ${order}`), ok(`The parcel of ${order} is in Oslo.`)),
})

export const desk = definePrompt({
  ns: 'examples',
  key: 'hosts',
  sections: [
    defineSection({ key: 'role', title: 'Role', template: 'You answer customers of Lampworks.' }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'An order is refunded within 30 days of delivery, with refund_order, without asking why.',
      summary: 'The refund policy, and the tool for refunds.',
      visibility: 'summary',
      tools: [refundOrder],
    }),
    catalogSection(createCatalog([trackParcel]), { key: 'parcels', expose: hybrid(), summary: 'Tools for parcels.' }),
  ],
}).bind()

export const questions = ['I want my money back for A-17.', 'And where is my old parcel?'] as const

/** A call of the model, or its answer. */
export interface Reply {
  readonly id: string
  readonly call?: { readonly name: string; readonly arguments: object }
  readonly text: string
}

const call = (name: string, args: object): Reply => ({ id: `${name}-1`, call: { name, arguments: args }, text: '' })
const script: Reply[] = [
  call('read_section', { section_key: 'refunds' }),
  call('refund_order', { order: 'A-17' }),
  { id: 'first', text: 'A-17 is refunded.' },
  { ...call('read_section', { section_key: 'parcels' }), id: 'read_section-2' },
  call('use_tool', { name: 'track_parcel', arguments: { order: 'A-16' } }),
  { id: 'second', text: 'It is in Oslo.' },
]

/** The next reply of the model, which sees these tools. */
export function reply(tools: readonly string[]): Reply {
  const next = script.shift()
  assert(next, 'the model is asked once too often')
  const said = next.call ? `${next.call.name} ${JSON.stringify(next.call.arguments)}` : next.text
  console.log(`sees ${tools.join(', ').padEnd(64)} → ${said}`)
  assert(!next.call || tools.includes(next.call.name), `the model sees ${next.call?.name}`)
  return next
}

/** Checks what the answers led to. */
export function checkDesk(answers: readonly unknown[]): void {
  assert.deepEqual(answers, ['A-17 is refunded.', 'It is in Oslo.'])
  assert.deepEqual(done, ['refunded A-17', 'tracked A-16'])
  assert.equal(script.length, 0)
}
