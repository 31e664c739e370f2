// The shop: customers, products and orders. Everything is made up, and the same each time. Prices are in cents.

export interface Address {
  readonly street: string
  readonly city: string
  readonly state: string
  readonly zip: string
}

export interface Payment {
  readonly id: string
  readonly kind: 'gift card' | 'credit card' | 'paypal'
  /** What is left on a gift card. */
  balance?: number
}

export interface Customer {
  readonly id: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  address: Address
  readonly payments: Payment[]
  readonly orders: string[]
}

export interface Item {
  readonly id: string
  readonly product: string
  readonly options: Readonly<Record<string, string>>
  readonly isAvailable: boolean
  readonly price: number
}

export interface Product {
  readonly id: string
  readonly name: string
  readonly items: readonly string[]
}

export interface Order {
  readonly id: string
  readonly customer: string
  address: Address
  items: string[]
  status: string
  payment: string
  /** Why it was cancelled. */
  reason?: string
  /** What goes back, and what comes instead. */
  returned?: readonly string[]
  exchanged?: readonly string[]
  refundTo?: string
}

export interface Store {
  readonly customers: Map<string, Customer>
  readonly products: Map<string, Product>
  readonly items: Map<string, Item>
  readonly orders: Map<string, Order>
  /** The customers who were handed to a person. */
  readonly transfers: string[]
}

const PRODUCTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'desk lamp': { color: ['white', 'black'], power: ['mains', 'battery'] },
  backpack: { color: ['green', 'gray'], size: ['20 l', '30 l'] },
  kettle: { material: ['steel', 'glass'], size: ['1 l', '1.7 l'] },
  headphones: { color: ['black', 'blue'], fit: ['in ear', 'over ear'] },
  'wall clock': { diameter: ['25 cm', '35 cm'], color: ['oak', 'white'] },
  sneakers: { size: ['40', '42'], color: ['red', 'white'] },
  jacket: { size: ['M', 'L'], color: ['navy', 'olive'] },
  blender: { power: ['500 W', '900 W'], color: ['silver', 'red'] },
  notebook: { paper: ['lined', 'plain'], size: ['A5', 'A4'] },
  'yoga mat': { thickness: ['4 mm', '6 mm'], color: ['violet', 'teal'] },
  keyboard: { switches: ['clicky', 'silent'], layout: ['full size', 'compact'] },
  thermostat: { works: ['with Google Home', 'with HomeKit'], color: ['white', 'black'] },
}

const FIRST = 'Ada Ben Cleo Dario Elif Finn Greta Hugo Ines Jonas Kira Leon Mina Nils Oona Paul Quinn Rosa Sami'.split(
  ' ',
)
const LAST = 'Abbott Berg Costa Diaz Evans Fuchs Gray Haas Ito Jensen'.split(' ')
const CITIES: readonly (readonly [city: string, state: string])[] = [
  ['Austin', 'TX'],
  ['Boise', 'ID'],
  ['Denver', 'CO'],
  ['Portland', 'OR'],
]

/** How many customers there are. */
export const CUSTOMERS = 38
/** There is an order for each case, and its status is what the case needs. */
export type Statuses = readonly ('pending' | 'processed' | 'delivered')[]

/** Creates the shop as it is before a conversation. */
export function createStore(statuses: Statuses): Store {
  const { products, items } = createProducts()
  const store: Store = { customers: new Map(), products, items, orders: new Map(), transfers: [] }
  for (let i = 0; i < CUSTOMERS; i++) {
    const customer = createCustomer(i)
    store.customers.set(customer.id, customer)
  }
  const customers = [...store.customers.values()]
  const catalog = [...products.values()]
  for (const [at, status] of statuses.entries()) {
    const customer = customers[at % CUSTOMERS]!
    const chosen = [catalog[at % catalog.length]!, catalog[(at + 5) % catalog.length]!]
    const order: Order = {
      id: `#W${4_100_000 + at * 37}`,
      customer: customer.id,
      address: customer.address,
      items: chosen.map((product) => product.items[at % 2]!),
      status,
      payment: customer.payments[1]!.id,
    }
    store.orders.set(order.id, order)
    customer.orders.push(order.id)
  }
  return store
}

function createCustomer(at: number): Customer {
  const [firstName, lastName] = [FIRST[at % FIRST.length]!, LAST[(at * 3) % LAST.length]!]
  const id = `${firstName}_${lastName}_${1_000 + at * 17}`.toLowerCase()
  const [city, state] = CITIES[at % CITIES.length]!
  return {
    id,
    firstName,
    lastName,
    email: `${id.replaceAll('_', '.')}@example.com`,
    address: { street: `${10 + at} Main Street`, city, state, zip: String(70_000 + at * 11) },
    payments: [
      { id: `gift_card_${2_000 + at}`, kind: 'gift card', balance: 40_000 },
      { id: `credit_card_${3_000 + at}`, kind: 'credit card' },
      ...(at % 3 === 0 ? [{ id: `paypal_${4_000 + at}`, kind: 'paypal' as const }] : []),
    ],
    orders: [],
  }
}

/** Every product has four items; the last one is sold out. */
function createProducts(): Pick<Store, 'products' | 'items'> {
  const products = new Map<string, Product>()
  const items = new Map<string, Item>()
  for (const [at, [name, options]] of Object.entries(PRODUCTS).entries()) {
    const id = String(6_000 + at)
    const [[one, ones], [other, others]] = Object.entries(options) as [[string, string[]], [string, string[]]]
    const own = ones.flatMap((a, i) =>
      others.map((b, j): Item => ({
        id: String(90_000 + at * 100 + i * 10 + j),
        product: id,
        options: { [one]: a, [other]: b },
        isAvailable: i + j < 2,
        price: 2_000 + at * 350 + i * 400 + j * 150,
      })),
    )
    for (const item of own) items.set(item.id, item)
    products.set(id, { id, name, items: own.map((item) => item.id) })
  }
  return { products, items }
}

/** What differs from the shop before the conversation, as JSON: the same changes give the same state. */
export function describeChanges(store: Store, statuses: Statuses) {
  const before = createStore(statuses)
  const differ = <Value>(now: ReadonlyMap<string, Value>, then: ReadonlyMap<string, Value>) =>
    Object.fromEntries([...now].filter(([id, value]) => JSON.stringify(value) !== JSON.stringify(then.get(id))))
  const changes = {
    orders: differ(store.orders, before.orders),
    customers: differ(store.customers, before.customers),
    transfers: store.transfers,
  }
  return JSON.parse(JSON.stringify(changes)) as { readonly [key: string]: {} }
}
