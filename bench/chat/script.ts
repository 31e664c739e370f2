import { definePrompt } from 'foldout'
import * as z from 'zod'
import { createAssistantSections } from '../assistant.ts'

/** What the model does with one request. Sections that are already open are not opened again. */
export type ChatStep =
  | { readonly opens: readonly string[] }
  | { readonly calls: readonly { readonly name: string; readonly arguments: object }[] }
  | { readonly says: string }

export interface ChatTurn {
  readonly input: string
  readonly steps: readonly ChatStep[]
}

const RESULTS: Readonly<Record<string, unknown>> = {
  find_orders: ['O-77120', 'O-76801', 'O-75944', 'O-75310'].map((order, i) => ({
    order,
    customer: 'C-3391',
    state: i === 1 ? 'shipped' : 'delivered',
    placed: `2026-0${9 - i}-1${i + 2}`,
    total: `${(184.5 - 31.2 * i).toFixed(2)} EUR`,
    lines: [
      { line: 1, item: 'Handle, beech, 32 mm', quantity: 2, price: '14.90 EUR' },
      { line: 2, item: 'Blade set, 5 pieces', quantity: 1, price: '39.00 EUR' },
    ],
  })),
  refund_order: {
    refund: 'R-55180',
    order: 'O-77120',
    amount: '29.80 EUR',
    to: 'card ending in 4417',
    by: '3 to 5 days',
  },
  track_shipment: {
    shipment: 'S-20481-2',
    order: 'O-76801',
    expected: 'unknown',
    events: ['picked up', 'sorted', 'departed', 'arrived', 'sorted', 'departed', 'held'].map((event, i) => ({
      event,
      place: ['Leipzig', 'Halle', 'Nuremberg', 'Linz'][i >> 1],
      at: `2026-11-0${2 + (i >> 1)} 1${i}:2${i}`,
    })),
  },
  open_search: { search: 'Q-1180', shipment: 'S-20481-2', answer: 'within two working days' },
  stock_of: { item: 'Pump P-12', free: 7, reserved: 2, place: 'Leipzig', next_delivery: '2026-11-24' },
  reserve: { reservation: 'V-9911', item: 'Pump P-12', quantity: 1, until: '2026-11-18' },
  reship: { shipment: 'S-20612-1', carrier: 'express', expected: '2026-11-18 before noon', price: '0.00 EUR' },
  warranty_of: {
    serial: 'D4-99812',
    item: 'Drill D4, 18 V',
    sold: '2025-02-11',
    warranty_until: '2027-02-11',
    repairs: [
      { repair: 'W-4410', day: '2025-10-02', fault: 'switch' },
      { repair: 'W-4873', day: '2026-06-19', fault: 'gearbox' },
    ],
  },
  book_repair: { repair: 'W-5127', serial: 'D4-99812', picked_up: '2026-11-23', back_by: '2026-12-01' },
}

/** The service team's assistant, with working tools and structured answers. */
export const chatPrompt = definePrompt({
  ns: 'bench',
  key: 'chat',
  sections: [...createAssistantSections((tool) => JSON.stringify(RESULTS[tool]))],
  output: z.object({
    answer: z.string().describe('For the employee, in plain text.'),
    numbers: z.array(z.string()).describe('Every number that the answer is about, such as O-77120.'),
  }),
}).bind()

const opens = (...keys: readonly string[]): ChatStep => ({ opens: keys })
const call = (name: string, args: object): ChatStep => ({ calls: [{ name, arguments: args }] })
const answer = (text: string, ...numbers: readonly string[]): ChatStep => ({
  says: JSON.stringify({ answer: text, numbers }),
})

/** An afternoon with one customer. Four turns open sections, and one answer has to be fixed. */
export const CHAT: readonly ChatTurn[] = [
  {
    input: 'C-3391 says that O-77120 came with two broken handles. He wants his money back for these, not new ones.',
    steps: [
      opens('orders', 'refunds'),
      call('find_orders', { customer: 'C-3391', state: 'delivered' }),
      answer(
        'O-77120 was delivered with two handles at 14.90 EUR each. I am going to refund line 1, 29.80 EUR, to the card ending in 4417. Is there a photo of the handles?',
        'O-77120',
      ),
    ],
  },
  {
    input: 'Yes, he has sent one, and I have put it into the file. Go ahead.',
    steps: [
      call('refund_order', { order: 'O-77120', lines: '{"1": 29.80}', reason: 'Broken on arrival' }),
      answer('Line 1 of O-77120 is refunded: 29.80 EUR, number R-55180. Nothing is left to do.', 'O-77120', 'R-55180'),
    ],
  },
  {
    input: 'When will he see the money?',
    steps: [answer('Within three to five days, on the card ending in 4417.', 'R-55180')],
  },
  {
    input: 'He has another parcel on the way, S-20481-2. He says that it has not moved for six days.',
    steps: [
      opens('shipping'),
      call('track_shipment', { shipment: 'S-20481-2' }),
      answer(
        'S-20481-2 was held in Linz on 5 November and has no expected day. It belongs to O-76801. I can ask the carrier to search for it; the answer takes two working days. Shall I?',
        'S-20481-2',
        'O-76801',
      ),
    ],
  },
  {
    input: 'Please do. It is a pump in a gray box.',
    steps: [
      call('open_search', { shipment: 'S-20481-2', contents: 'A pump in a gray box' }),
      { says: 'The search is open: Q-1180. The carrier answers within two working days.' },
      answer('The search is open: Q-1180. The carrier answers within two working days.', 'Q-1180', 'S-20481-2'),
    ],
  },
  {
    input: 'He needs the pump on Friday. Do we have one in stock?',
    steps: [
      opens('products'),
      call('stock_of', { product: 'P-12' }),
      answer('Seven are free in Leipzig. Shall I reserve one and send it by express, free of charge?', 'S-20481-2'),
    ],
  },
  {
    input: 'Yes, and tell me when it arrives.',
    steps: [
      {
        calls: [
          { name: 'reserve', arguments: { product: 'P-12', customer: 'C-3391', count: '1' } },
          { name: 'reship', arguments: { shipment: 'S-20481-2', express: 'yes' } },
        ],
      },
      answer(
        'A pump is on its way as S-20612-1, by express, and is expected on 18 November before noon.',
        'S-20612-1',
        'V-9911',
      ),
    ],
  },
  {
    input: 'One more thing: his drill D4-99812 has failed for the third time. Is it still under warranty?',
    steps: [
      opens('warranty'),
      call('warranty_of', { serial: 'D4-99812' }),
      answer(
        'Yes, until 11 February 2027. It was repaired twice: the switch in October 2025, the gearbox in June 2026. I can book a repair with pickup on Monday. Shall I?',
        'D4-99812',
      ),
    ],
  },
  {
    input: 'Yes, Monday is fine. The chuck does not hold any more.',
    steps: [
      call('book_repair', { serial: 'D4-99812', fault: 'The chuck does not hold', pickup: '2026-11-23' }),
      answer('Booked: W-5127. The drill is picked up on 23 November and is back by 1 December.', 'W-5127', 'D4-99812'),
    ],
  },
  {
    input: 'Thanks. Write down what we did today, for the file.',
    steps: [
      answer(
        'O-77120: 29.80 EUR refunded for two broken handles (R-55180). S-20481-2: held in Linz, search Q-1180 opened, the pump sent again as S-20612-1. D4-99812: third repair booked (W-5127).',
        'O-77120',
        'R-55180',
        'S-20481-2',
        'Q-1180',
        'S-20612-1',
        'D4-99812',
        'W-5127',
      ),
    ],
  },
]
