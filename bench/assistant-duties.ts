import type { Topic } from './prose.ts'

/** Name, description, and params with their descriptions. */
export type ToolParts = readonly [name: string, description: string, params: Readonly<Record<string, string>>]

interface Duty {
  readonly key: string
  readonly title: string
  readonly summary: string
  readonly words: number
  readonly topic: Topic
  readonly tools: readonly ToolParts[]
}

const ORDER = 'Number of the order, such as O-77120.'
const CUSTOMER = 'Number of the customer, such as C-3391.'
const SHIPMENT = 'Number of the shipment, such as S-20481-2.'

/** The assistant's duties. */
export const DUTIES: readonly Duty[] = [
  {
    key: 'orders',
    title: 'Orders',
    summary: 'Finding, changing and cancelling orders: what may be changed until when, and who has to agree.',
    words: 720,
    topic: {
      thing: 'change to an order',
      things: 'changes to orders',
      owner: 'the order desk',
      system: 'Tradewind',
      approver: 'the shift lead',
      risk: 'an order that is shipped twice',
    },
    tools: [
      [
        'find_orders',
        'Finds the orders of a customer, newest first, with their state and their lines.',
        {
          customer: CUSTOMER,
          state: 'open, packed, shipped, delivered or cancelled.',
          since: 'First day, as YYYY-MM-DD.',
        },
      ],
      [
        'change_order',
        'Changes the lines or the address of an order that is not packed yet.',
        { order: ORDER, changes: 'What to change, as JSON by line number.', reason: 'Shown to the customer.' },
      ],
      [
        'cancel_order',
        'Cancels an order or some of its lines. What was paid goes back by itself.',
        { order: ORDER, lines: 'Line numbers. Default: all.', reason: 'One of the reasons in this section.' },
      ],
    ],
  },
  {
    key: 'shipping',
    title: 'Shipping',
    summary: 'Where a shipment is, what to do when it is late, damaged or lost, and which carrier goes where.',
    words: 860,
    topic: {
      thing: 'delayed shipment',
      things: 'delayed shipments',
      owner: 'the dispatch team',
      system: 'Tracklane',
      approver: 'the dispatch lead',
      risk: 'a parcel that nobody looks for',
    },
    tools: [
      [
        'track_shipment',
        'Gives the events of a shipment, with places and times, and when it is expected.',
        { shipment: SHIPMENT },
      ],
      [
        'open_search',
        'Asks the carrier to search for a shipment. The answer takes two working days.',
        { shipment: SHIPMENT, contents: 'What is in it, as the customer would describe it.' },
      ],
      [
        'reship',
        'Sends the contents of a shipment once more, free of charge.',
        { shipment: SHIPMENT, address: 'If it goes elsewhere.', express: 'yes or no.' },
      ],
    ],
  },
  {
    key: 'refunds',
    title: 'Refunds',
    summary: 'When money goes back, how much of it, by which way, and above which amount someone has to agree.',
    words: 780,
    topic: {
      thing: 'refund',
      things: 'refunds',
      owner: 'the refund desk',
      system: 'Ledgerline',
      approver: 'the duty manager',
      risk: 'a payment made twice',
    },
    tools: [
      [
        'refund_order',
        'Pays an order back, as a whole or line by line.',
        { order: ORDER, lines: 'Line numbers with amounts, as JSON.', reason: 'One of the reasons in this section.' },
      ],
      [
        'credit_customer',
        'Gives a customer credit for later orders, without a refund.',
        { customer: CUSTOMER, amount: 'In euros, with two decimals.', reason: 'Shown on the statement.' },
      ],
      [
        'ask_approval',
        'Asks the duty manager to agree to a refund above the limit.',
        { order: ORDER, amount: 'In euros, with two decimals.', why: 'Two or three sentences.' },
      ],
    ],
  },
  {
    key: 'returns',
    title: 'Returns',
    summary: 'Labels, periods and conditions for goods that come back, and what is checked on arrival.',
    words: 640,
    topic: {
      thing: 'return',
      things: 'returns',
      owner: 'the returns dock',
      system: 'Tradewind',
      approver: 'the dock lead',
      risk: 'goods that are credited and never arrive',
    },
    tools: [
      [
        'make_label',
        'Makes a return label and mails it to the customer.',
        { order: ORDER, lines: 'Line numbers. Default: all.', pickup: 'yes or no.' },
      ],
      ['return_state', 'Says where a return is and what was found on arrival.', { order: ORDER }],
    ],
  },
  {
    key: 'billing',
    title: 'Billing',
    summary: 'Invoices, dunning, tax numbers and payment by instalments for business customers.',
    words: 700,
    topic: {
      thing: 'corrected invoice',
      things: 'corrected invoices',
      owner: 'the billing desk',
      system: 'Ledgerline',
      approver: 'the controller',
      risk: 'a figure in the wrong year',
    },
    tools: [
      [
        'find_invoices',
        'Finds invoices with their amounts, due days and payments.',
        { customer: CUSTOMER, state: 'open, paid, overdue or corrected.', year: 'Four digits.' },
      ],
      [
        'correct_invoice',
        'Replaces an invoice by a corrected one with a number of its own.',
        { invoice: 'Number of the invoice.', changes: 'What is wrong and what is right, as JSON.' },
      ],
      [
        'set_instalments',
        'Lets a business customer pay an invoice in parts.',
        { invoice: 'Number of the invoice.', parts: '2 to 6.', first: 'Day of the first payment.' },
      ],
    ],
  },
  {
    key: 'accounts',
    title: 'Accounts',
    summary: "Signing in, second factors, users of a company's account, and what proves who somebody is.",
    words: 560,
    topic: {
      thing: 'locked account',
      things: 'locked accounts',
      owner: 'the identity team',
      system: 'Gatehouse',
      approver: 'the identity lead',
      risk: 'a stranger in an account',
    },
    tools: [
      [
        'verify_identity',
        'Sends a code to a channel on file and says whether it was entered.',
        { customer: CUSTOMER, channel: 'mail or phone.' },
      ],
      [
        'unlock_account',
        'Unlocks an account after the identity is verified.',
        { customer: CUSTOMER, reason: 'For the record.' },
      ],
      [
        'change_users',
        'Adds, removes or changes users of a business account.',
        { customer: CUSTOMER, changes: 'By mail address, as JSON.' },
      ],
    ],
  },
  {
    key: 'privacy',
    title: 'Privacy requests',
    summary: 'Access, deletion and correction of personal data, with the periods that the law sets.',
    words: 620,
    topic: {
      thing: 'data request',
      things: 'data requests',
      owner: 'the privacy office',
      system: 'Recital',
      approver: 'the data protection officer',
      risk: 'personal data in the wrong hands',
    },
    tools: [
      [
        'open_request',
        'Begins a request for access, deletion or correction and starts its period.',
        { customer: CUSTOMER, kind: 'access, deletion or correction.', details: 'In the words of the customer.' },
      ],
      [
        'request_state',
        'Says how far a request is and until when it has to be answered.',
        { request: 'Number of the request.' },
      ],
    ],
  },
  {
    key: 'products',
    title: 'Products and stock',
    summary: 'What is in stock where, when more comes, what replaces what, and who may reserve.',
    words: 480,
    topic: {
      thing: 'reservation',
      things: 'reservations',
      owner: 'the stock team',
      system: 'Shelfwise',
      approver: 'the stock lead',
      risk: 'goods that are promised twice',
    },
    tools: [
      [
        'find_products',
        'Finds products by words, number or what they fit to.',
        { query: 'Words or a number.', category: 'One of the catalog.' },
      ],
      [
        'stock_of',
        'Says how many of a product are where, and when more comes.',
        { product: 'Number of the product.', warehouse: 'Default: all.' },
      ],
      [
        'reserve',
        'Keeps some of a product for a customer for three days.',
        { product: 'Number of the product.', customer: CUSTOMER, count: 'A number.' },
      ],
    ],
  },
  {
    key: 'warranty',
    title: 'Warranty and repairs',
    summary: 'What is covered for how long, how a repair goes, and when a device is replaced at once.',
    words: 820,
    topic: {
      thing: 'repair',
      things: 'repairs',
      owner: 'the workshop',
      system: 'Benchmark',
      approver: 'the workshop lead',
      risk: 'a repair nobody pays for',
    },
    tools: [
      ['warranty_of', 'Says whether a device is covered and until when.', { serial: 'Serial number of the device.' }],
      [
        'book_repair',
        'Books a repair with a pickup.',
        { serial: 'Serial number of the device.', fault: 'What the customer sees.', pickup: 'Day of the pickup.' },
      ],
    ],
  },
  {
    key: 'complaints',
    title: 'Complaints and escalation',
    summary: 'How complaints are taken, what may be promised, and when the duty manager takes over.',
    words: 590,
    topic: {
      thing: 'complaint',
      things: 'complaints',
      owner: 'the quality team',
      system: 'Harbour Desk',
      approver: 'the duty manager',
      risk: 'a customer who is told two things',
    },
    tools: [
      [
        'file_complaint',
        'Files a complaint with all that was said.',
        { customer: CUSTOMER, text: 'In the words of the customer.', about: 'Order, shipment or person.' },
      ],
      [
        'escalate',
        'Hands the conversation to the duty manager.',
        { customer: CUSTOMER, why: 'Two or three sentences.', urgent: 'yes or no.' },
      ],
    ],
  },
  {
    key: 'business',
    title: 'Business customers',
    summary: 'Framework contracts, price lists, quotes and whom to ask for each of the large customers.',
    words: 760,
    topic: {
      thing: 'price quote',
      things: 'price quotes',
      owner: 'the sales desk',
      system: 'Pipeline',
      approver: 'the regional director',
      risk: 'a promise nobody can keep',
    },
    tools: [
      [
        'contract_of',
        "Gives a business customer's contract: prices, discounts and who looks after it.",
        { customer: CUSTOMER },
      ],
      [
        'make_quote',
        'Makes a quote that holds for 30 days.',
        { customer: CUSTOMER, lines: 'Products with counts, as JSON.', discount: 'In per cent.' },
      ],
    ],
  },
  {
    key: 'outages',
    title: 'Outages',
    summary: 'What to say while a system is down, where its state is shown, and what is made good afterwards.',
    words: 420,
    topic: {
      thing: 'outage notice',
      things: 'outage notices',
      owner: 'the platform team',
      system: 'Beacon',
      approver: 'the incident lead',
      risk: 'two teams that say different things',
    },
    tools: [
      [
        'system_state',
        'Says which systems are down or slow, since when, and what is known.',
        { system: 'Default: all.' },
      ],
    ],
  },
]
