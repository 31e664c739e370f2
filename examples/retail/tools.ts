// The sixteen tools of the desk, on one shop.
import { defineTool, fail, ok, type ToolResult } from 'foldout'
import * as z from 'zod'
import { calculate } from './arithmetic.ts'
import {
  cancelOrder,
  changeItems,
  changePayment,
  exchangeItems,
  findCustomer,
  findItem,
  findOrder,
  moveCustomer,
  moveOrder,
  Refusal,
  returnItems,
} from './rules.ts'
import type { Store } from './store.ts'

const order_id = z.string().describe('The number of the order, such as #W4100000')
const user_id = z.string().describe('The id of the customer, such as ada_abbott_1000')
const item_ids = z.array(z.string()).describe('The ids of the items of the order')
const new_item_ids = z.array(z.string()).describe('The ids of the new items, in the same order')
const payment_method_id = z.string().describe('A payment method of the customer, such as gift_card_2000')
const address = {
  street: z.string(),
  city: z.string(),
  state: z.string().describe('Two letters, such as TX'),
  zip: z.string(),
}

/** Runs what a tool does. A rule that forbids it is an answer to the model. */
function answer(act: () => unknown): ToolResult {
  try {
    return ok(JSON.stringify(act()))
  } catch (error) {
    if (error instanceof Refusal) return fail(error.message)
    throw error
  }
}

/** Finds customers and orders, and does sums. */
export const createLookupTools = (store: Store) => [
  defineTool({
    name: 'find_user_id_by_email',
    description: 'Find the id of a customer by their email address.',
    params: z.object({ email: z.string() }),
    execute: ({ email }) =>
      answer(() => {
        const found = [...store.customers.values()].find((each) => each.email === email.trim().toLowerCase())
        if (!found) throw new Refusal('No customer has this email address.')
        return found.id
      }),
  }),
  defineTool({
    name: 'find_user_id_by_name_zip',
    description: 'Find the id of a customer who does not remember their email address, by name and ZIP code.',
    params: z.object({ first_name: z.string(), last_name: z.string(), zip: z.string() }),
    execute: ({ first_name, last_name, zip }) =>
      answer(() => {
        const name = `${first_name} ${last_name}`.toLowerCase()
        const found = [...store.customers.values()].find(
          (each) => `${each.firstName} ${each.lastName}`.toLowerCase() === name && each.address.zip === zip,
        )
        if (!found) throw new Refusal('No customer has this name and ZIP code.')
        return found.id
      }),
  }),
  defineTool({
    name: 'get_user_details',
    description: 'Get the profile of a customer: address, payment methods and order numbers.',
    params: z.object({ user_id }),
    execute: (given) => answer(() => findCustomer(store, given.user_id)),
  }),
  defineTool({
    name: 'get_order_details',
    description: 'Get the status, the items, the address and the payment method of an order.',
    params: z.object({ order_id }),
    execute: (given) => answer(() => findOrder(store, given.order_id)),
  }),
  defineTool({
    name: 'calculate',
    description: 'Compute a sum, such as 12.50 * 3 - 4.',
    params: z.object({ expression: z.string() }),
    execute: ({ expression }) => answer(() => calculate(expression)),
  }),
]

export const createProductTools = (store: Store) => [
  defineTool({
    name: 'list_all_product_types',
    description: 'List the names and ids of all products.',
    execute: () => answer(() => Object.fromEntries([...store.products.values()].map(({ id, name }) => [name, id]))),
  }),
  defineTool({
    name: 'get_product_details',
    description: 'Get all items of a product, with options, prices in cents and availability.',
    params: z.object({ product_id: z.string() }),
    execute: ({ product_id }) =>
      answer(() => {
        const product = store.products.get(product_id)
        if (!product) throw new Refusal(`There is no product ${product_id}.`)
        return { ...product, items: product.items.map((id) => findItem(store, id)) }
      }),
  }),
  defineTool({
    name: 'get_item_details',
    description: 'Get one item: its product, options, price in cents and availability.',
    params: z.object({ item_id: z.string() }),
    execute: ({ item_id }) => answer(() => findItem(store, item_id)),
  }),
]

export const createCancelTools = (store: Store) => [
  defineTool({
    name: 'cancel_pending_order',
    description: 'Cancel a pending order and refund it, after the customer has confirmed.',
    params: z.object({ order_id, reason: z.enum(['no longer needed', 'ordered by mistake']) }),
    execute: (given) => answer(() => cancelOrder(store, given.order_id, given.reason)),
  }),
]

export const createChangeTools = (store: Store) => [
  defineTool({
    name: 'modify_pending_order_address',
    description: 'Send a pending order to another address, after the customer has confirmed.',
    params: z.object({ order_id, ...address }),
    execute: ({ order_id: id, ...to }) => answer(() => moveOrder(store, id, to)),
  }),
  defineTool({
    name: 'modify_pending_order_payment',
    description: 'Pay a pending order in another way, after the customer has confirmed.',
    params: z.object({ order_id, payment_method_id }),
    execute: (given) => answer(() => changePayment(store, given.order_id, given.payment_method_id)),
  }),
  defineTool({
    name: 'modify_pending_order_items',
    description: 'Replace items of a pending order, once, after the customer has confirmed.',
    params: z.object({ order_id, item_ids, new_item_ids, payment_method_id }),
    execute: (given) =>
      answer(() =>
        changeItems(store, given.order_id, {
          items: given.item_ids,
          others: given.new_item_ids,
          method: given.payment_method_id,
        }),
      ),
  }),
]

export const createReturnTools = (store: Store) => [
  defineTool({
    name: 'return_delivered_order_items',
    description: 'Take back items of a delivered order, once, after the customer has confirmed.',
    params: z.object({ order_id, item_ids, payment_method_id }),
    execute: (given) => answer(() => returnItems(store, given.order_id, given.item_ids, given.payment_method_id)),
  }),
]

export const createExchangeTools = (store: Store) => [
  defineTool({
    name: 'exchange_delivered_order_items',
    description: 'Exchange items of a delivered order, once, after the customer has confirmed.',
    params: z.object({ order_id, item_ids, new_item_ids, payment_method_id }),
    execute: (given) =>
      answer(() =>
        exchangeItems(store, given.order_id, {
          items: given.item_ids,
          others: given.new_item_ids,
          method: given.payment_method_id,
        }),
      ),
  }),
]

export const createProfileTools = (store: Store) => [
  defineTool({
    name: 'modify_user_address',
    description: 'Change the address in the profile of a customer, after the customer has confirmed.',
    params: z.object({ user_id, ...address }),
    execute: ({ user_id: id, ...to }) => answer(() => moveCustomer(store, id, to)),
  }),
]

export const createTransferTools = (store: Store) => [
  defineTool({
    name: 'transfer_to_human_agents',
    description: 'Hand the customer to a person.',
    params: z.object({ user_id, summary: z.string().describe('What the customer wants, in one sentence') }),
    execute: (given) =>
      answer(() => {
        const { id } = findCustomer(store, given.user_id)
        store.transfers.push(id)
        return 'A person will take over.'
      }),
  }),
]
