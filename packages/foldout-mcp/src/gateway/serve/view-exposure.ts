import { changeExposed, type CallClient, type CallResult, type ExposedCatalog, type Exposure } from 'foldout/catalog'

/** The servers that are being started because their tools are not known. */
export interface StartingServers {
  /** Whether there are any. */
  isStarting(): boolean
  /** Their names. */
  listStarting(): readonly string[]
  /** Resolves when none is left, or after a while. */
  untilStarted(): Promise<void>
}

/**
 * An exposure that waits a while for servers that are still starting before it searches, because they may have the
 * tool. If they need longer, the answer names them.
 */
export function awaitTools(exposure: Exposure, { isStarting, listStarting, untilStarted }: StartingServers): Exposure {
  return {
    ...exposure,
    expose(catalog, reader) {
      const inner = exposure.expose(catalog, reader)
      const search: ExposedCatalog['call'] = async (name, args, context) => {
        await untilStarted()
        const result = await inner.call(name, args, context)
        const starting = listStarting()
        return starting.length === 0 ? result : addNote(result, describeStarting(starting))
      }
      const call: ExposedCatalog['call'] = (name, args, context) =>
        isStarting() && !inner.target(name, args) ? search(name, args, context) : inner.call(name, args, context)
      return changeExposed(inner, { call })
    },
  }
}

function addNote(result: CallResult, text: string): CallResult {
  return { ...result, content: [...result.content, { type: 'text', text }] }
}

const MAX_NAMED = 5

function describeStarting(servers: readonly string[]): string {
  const [first = '', ...others] = servers
  if (others.length === 0)
    return `The server '${first}' is still starting, so its tools are not known yet. If you need one of them, try again in a few seconds.`
  const more = servers.length > MAX_NAMED ? ` and ${servers.length - MAX_NAMED} more` : ''
  const names = servers.slice(0, MAX_NAMED).join(', ')
  return `These servers are still starting, so their tools are not known yet: ${names}${more}. If you need one of them, try again in a few seconds.`
}

/** Gives clients ids that no client of another view has. */
export function createScope(view: string): <Client extends CallClient>(client: Client) => Client {
  // A client is the same object in all of its calls.
  const scoped = new WeakMap<CallClient, CallClient>()
  return <Client extends CallClient>(client: Client): Client => {
    const known = scoped.get(client) as Client | undefined
    if (known) return known
    const one = { ...client, id: `${view}/${client.id}` }
    scoped.set(client, one)
    return one
  }
}

/** An exposure whose tools get clients with ids that no client of another view has. */
export function scopeClients(exposure: Exposure, toScoped: (client: CallClient) => CallClient): Exposure {
  return {
    ...exposure,
    expose(catalog, reader) {
      const inner = exposure.expose(catalog, reader)
      const call: ExposedCatalog['call'] = (name, args, context) =>
        inner.call(name, args, context.client ? { ...context, client: toScoped(context.client) } : context)
      return changeExposed(inner, { call })
    },
  }
}
