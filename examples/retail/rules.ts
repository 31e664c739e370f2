// What the desk may do with orders and customers. The tools check these rules, whatever the model has read.
import type { Address, Customer, Item, Order, Payment, Store } from './store.ts'

/** A rule of the shop forbids it. The model reads why. */
export class Refusal extends Error {}

export function findOrder({ orders }: Store, id: string): Order {
  const order = orders.get(id.startsWith('#') ? id : `#${id}`)
  if (!order) throw new Refusal(`There is no order ${id}.`)
  return order
}

export function findCustomer({ customers }: Store, id: string): Customer {
  const customer = customers.get(id)
  if (!customer) throw new Refusal(`There is no customer ${id}.`)
  return customer
}

export function findItem({ items }: Store, id: string): Item {
  const item = items.get(id)
  if (!item) throw new Refusal(`There is no item ${id}.`)
  return item
}

function requireStatus(order: Order, status: string): void {
  if (order.status !== status) throw new Refusal(`Order ${order.id} is ${order.status}, not ${status}.`)
}

function findPayment(store: Store, order: Order, id: string): Payment {
  const payment = findCustomer(store, order.customer).payments.find((each) => each.id === id)
  if (!payment) throw new Refusal(`The customer has no payment method ${id}.`)
  return payment
}

/** Pays a difference, or gives it back. Gift cards know their balance. */
function pay(payment: Payment, cents: number): void {
  if (payment.balance === undefined) return
  if (payment.balance < cents) throw new Refusal(`Only $${payment.balance / 100} are left on ${payment.id}.`)
  payment.balance -= cents
}

export function getTotal(store: Store, { items }: Order): number {
  return items.reduce((sum, id) => sum + findItem(store, id).price, 0)
}

export function cancelOrder(store: Store, id: string, reason: string): Order {
  const order = findOrder(store, id)
  requireStatus(order, 'pending')
  pay(findPayment(store, order, order.payment), -getTotal(store, order))
  return Object.assign(order, { status: 'cancelled', reason })
}

export function moveOrder(store: Store, id: string, address: Address): Order {
  const order = findOrder(store, id)
  requireStatus(order, 'pending')
  return Object.assign(order, { address })
}

export function changePayment(store: Store, id: string, method: string): Order {
  const order = findOrder(store, id)
  requireStatus(order, 'pending')
  if (method === order.payment) throw new Refusal(`Order ${id} is paid with ${method} already.`)
  const total = getTotal(store, order)
  pay(findPayment(store, order, method), total)
  pay(findPayment(store, order, order.payment), -total)
  return Object.assign(order, { payment: method })
}

interface Swap {
  readonly items: readonly string[]
  readonly others: readonly string[]
  readonly method: string
}

/** Replaces items by others of the same product, and settles the difference. */
function swap(store: Store, order: Order, { items, others, method }: Swap): string[] {
  if (items.length === 0 || items.length !== others.length)
    throw new Refusal('Name as many new items as old ones, and at least one.')
  const left = [...order.items]
  let difference = 0
  for (const [at, id] of items.entries()) {
    const place = left.indexOf(id)
    if (place === -1) throw new Refusal(`Order ${order.id} has no item ${id}.`)
    const [old, next] = [findItem(store, id), findItem(store, others[at] ?? '')]
    if (next.product !== old.product) throw new Refusal(`Item ${next.id} is another product than item ${id}.`)
    if (!next.isAvailable) throw new Refusal(`Item ${next.id} is not available.`)
    if (next.id === id) throw new Refusal(`Item ${id} would be replaced by itself.`)
    left[place] = next.id
    difference += next.price - old.price
  }
  pay(findPayment(store, order, method), difference)
  return left
}

export function changeItems(store: Store, id: string, given: Swap): Order {
  const order = findOrder(store, id)
  requireStatus(order, 'pending')
  return Object.assign(order, { items: swap(store, order, given), status: 'pending (items changed)' })
}

export function exchangeItems(store: Store, id: string, given: Swap): Order {
  const order = findOrder(store, id)
  requireStatus(order, 'delivered')
  const exchanged = swap(store, order, given)
  return Object.assign(order, { exchanged, refundTo: given.method, status: 'exchange requested' })
}

export function returnItems(store: Store, id: string, items: readonly string[], method: string): Order {
  const order = findOrder(store, id)
  requireStatus(order, 'delivered')
  const missing = items.find((item) => !order.items.includes(item))
  if (missing !== undefined || items.length === 0) throw new Refusal(`Order ${id} has no item ${missing ?? ''}.`)
  const payment = findPayment(store, order, method)
  if (payment.id !== order.payment && payment.kind !== 'gift card')
    throw new Refusal('Money goes back to the original payment method or to a gift card.')
  return Object.assign(order, { returned: [...items].toSorted(), refundTo: method, status: 'return requested' })
}

export function moveCustomer(store: Store, id: string, address: Address): Customer {
  return Object.assign(findCustomer(store, id), { address })
}
