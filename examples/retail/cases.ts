// The 114 cases: what a customer wants, and what the shop is like afterwards if the desk does it right.
import type { CompareCase } from 'foldout/compare'
import {
  cancelOrder,
  changeItems,
  changePayment,
  exchangeItems,
  findItem,
  moveCustomer,
  moveOrder,
  returnItems,
} from './rules.ts'
import {
  createStore,
  describeChanges,
  type Address,
  type Customer,
  type Order,
  type Statuses,
  type Store,
} from './store.ts'

export const CASES = 114

const KINDS = ['cancel', 'address', 'payment', 'items', 'return', 'exchange', 'profile', 'refuse', 'transfer'] as const
type Kind = (typeof KINDS)[number]

const getKind = (at: number): Kind => KINDS[at % KINDS.length]!

const STATUS: Readonly<Record<Kind, Statuses[number]>> = {
  cancel: 'pending',
  address: 'pending',
  payment: 'pending',
  items: 'pending',
  return: 'delivered',
  exchange: 'delivered',
  profile: 'delivered',
  refuse: 'processed',
  transfer: 'delivered',
}

/** The section that a case needs; a refusal needs none. */
const NEEDS: Readonly<Record<Kind, readonly string[]>> = {
  cancel: ['cancel'],
  address: ['change'],
  payment: ['change'],
  items: ['change'],
  return: ['return'],
  exchange: ['exchange'],
  profile: ['profile'],
  refuse: [],
  transfer: ['transfer'],
}

/** What a case knows besides what its customer says. */
export interface Task {
  readonly kind: Kind
  readonly order: string
  readonly email: string
  /** The call that does it; none if it is refused. */
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, string | string[]>> } | null
}

export const STATUSES: Statuses = Array.from({ length: CASES }, (_, at) => STATUS[getKind(at)])

/** Creates the shop for one run. */
export const createWorld = (): Store => createStore(STATUSES)

/** The state of a shop as `graders.state` compares it. */
export const readState = (store: Store) => describeChanges(store, STATUSES)

const STREETS = ['Elm Street', 'Oak Avenue', 'Hill Road', 'Lake Drive']
const createAddress = (at: number): Address => ({
  street: `${200 + at} ${STREETS[at % STREETS.length]}`,
  city: 'Salem',
  state: 'OR',
  zip: String(97_300 + (at % 90)),
})

const describe = ({ street, city, state, zip }: Address): string => `${street}, ${city}, ${state} ${zip}`

/** The item of the same product that the customer wants instead: another one that is available. */
function findOther(store: Store, id: string): string {
  const { product } = findItem(store, id)
  const others = store.products.get(product)?.items ?? []
  return others.find((other) => other !== id && findItem(store, other).isAvailable) ?? id
}

const describeItem = (store: Store, id: string): string => {
  const { product, options } = findItem(store, id)
  return `${store.products.get(product)?.name} (${Object.values(options).join(', ')})`
}

interface Wish {
  readonly says: string
  readonly call: Task['call']
  /** Does it, as the tool would. */
  act(): unknown
}

/** What a wish is about. */
interface Subject {
  readonly store: Store
  readonly order: Order
  readonly at: number
  /** The customer, with the gift card and the credit card that paid. */
  readonly customer: Customer
  readonly gift: string
  readonly credit: string
}

const call = (name: string, args: Readonly<Record<string, string | string[]>>): Task['call'] => ({
  name,
  arguments: args,
})

/** What the customer of each kind of case says, and what comes of it. */
const WISHES: Readonly<Record<Kind, (subject: Subject) => Wish>> = {
  cancel({ store, order: { id }, at }) {
    const [reason, why] = REASONS[at % 2]!
    return {
      says: `Please cancel my order ${id}: ${why}.`,
      call: call('cancel_pending_order', { order_id: id, reason }),
      act: () => cancelOrder(store, id, reason),
    }
  },
  address({ store, order: { id }, at }) {
    const to = createAddress(at)
    return {
      says: `Could you send my order ${id} to ${describe(to)} instead? It has not left yet.`,
      call: call('modify_pending_order_address', { order_id: id, ...to }),
      act: () => moveOrder(store, id, to),
    }
  },
  payment: ({ store, order: { id }, gift }) => ({
    says: `I want to pay for my order ${id} with my gift card (${gift}) and not with the credit card.`,
    call: call('modify_pending_order_payment', { order_id: id, payment_method_id: gift }),
    act: () => changePayment(store, id, gift),
  }),
  items(subject) {
    const { store, order, gift } = subject
    const { now, wanted, args, swap } = createSwap(subject)
    return {
      says: `My order ${order.id} has not been sent yet, has it? I would rather have the ${wanted} than the ${now}. My gift card (${gift}) can settle the difference. That is all I want to change.`,
      call: call('modify_pending_order_items', args),
      act: () => changeItems(store, order.id, swap),
    }
  },
  exchange(subject) {
    const { store, order, gift } = subject
    const { now, wanted, args, swap } = createSwap(subject)
    return {
      says: `The ${now} of order ${order.id} arrived, and I would like to swap it for the ${wanted}. Use my gift card (${gift}) for the difference.`,
      call: call('exchange_delivered_order_items', args),
      act: () => exchangeItems(store, order.id, swap),
    }
  },
  return({ store, order: { id, items }, credit, at }) {
    const back = at % 2 === 0 ? items.slice(0, 1) : [...items]
    const names = back.map((item) => describeItem(store, item)).join(' and the ')
    return {
      says: `I do not like what came with order ${id}. I want to send the ${names} back, and my money back on the credit card I paid with (${credit}).`,
      call: call('return_delivered_order_items', { order_id: id, item_ids: back, payment_method_id: credit }),
      act: () => returnItems(store, id, back, credit),
    }
  },
  profile({ store, customer, at }) {
    const to = createAddress(at + 7)
    return {
      says: `I have moved. My new address is ${describe(to)}. Please keep it for everything that I order from now on.`,
      call: call('modify_user_address', { user_id: customer.id, ...to }),
      act: () => moveCustomer(store, customer.id, to),
    }
  },
  refuse: ({ order: { id } }) => ({
    says: `Cancel my order ${id}, please. I do not need it any more.`,
    call: null,
    act: () => undefined,
  }),
  transfer: ({ store, order: { id }, customer }) => ({
    says: `The courier who brought order ${id} was rude and broke my gate. I want somebody to deal with that.`,
    call: call('transfer_to_human_agents', {
      user_id: customer.id,
      summary: `A complaint about the courier of ${id}.`,
    }),
    act: () => store.transfers.push(customer.id),
  }),
}

const REASONS = [
  ['no longer needed', 'I do not need it any more'],
  ['ordered by mistake', 'I ordered it by mistake'],
] as const

function createSwap({ store, order, gift }: Subject) {
  const [first = ''] = order.items
  const other = findOther(store, first)
  return {
    now: describeItem(store, first),
    wanted: describeItem(store, other),
    args: { order_id: order.id, item_ids: [first], new_item_ids: [other], payment_method_id: gift },
    swap: { items: [first], others: [other], method: gift },
  }
}

function createCase(at: number): CompareCase {
  const store = createWorld()
  const order = [...store.orders.values()][at]!
  const kind = getKind(at)
  const customer = store.customers.get(order.customer)!
  const [gift, credit] = [customer.payments[0]!.id, customer.payments[1]!.id]
  const { says, call: wanted, act } = WISHES[kind]({ store, order, at, customer, gift, credit })
  act()
  const { email } = customer
  const task: Task = { kind, order: order.id, email, call: wanted }
  return {
    id: `${kind}-${String(at + 1).padStart(3, '0')}`,
    input: says,
    user: `${says} Your email address is ${email}. You agree if the desk asks whether it should do exactly this, and to nothing else.`,
    needs: NEEDS[kind],
    state: readState(store),
    // Copied, so that the case is plain JSON.
    data: structuredClone(task) as unknown as NonNullable<CompareCase['data']>,
  }
}

export const cases: readonly CompareCase[] = Array.from({ length: CASES }, (_, at) => createCase(at))

export const getTask = ({ data }: CompareCase): Task => data as unknown as Task
