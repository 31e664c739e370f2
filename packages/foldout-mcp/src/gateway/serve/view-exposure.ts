import {
  changeExposed,
  hasFoundNothing,
  type CallClient,
  type CallResult,
  type ExposedCatalog,
  type Exposure,
} from 'foldout/catalog'
import { readWanted } from '../policy/denied-calls.ts'
import { showInvisible } from '../policy/visible.ts'

/** The servers that are being started because their tools are not known. */
export interface StartingServers {
  /** Whether there are any. */
  isStarting(): boolean
  /** Their names. */
  listStarting(): readonly string[]
  /** Resolves when none is left, or after a while. */
  untilStarted(): Promise<void>
}

/** A server that does not start, so that its tools are not known. */
export interface FailedServer {
  readonly name: string
  /** Whether it only needs a sign-in. */
  readonly needsSignIn: boolean
}

export interface FailedServers {
  /** Those that a client may use. */
  listFailed(client: CallClient | undefined): readonly FailedServer[]
}

export interface HeldTools {
  /** The tool that a client may use by this name once the user accepts its definition, as `server/tool`. */
  findHeld(name: unknown, client: CallClient | undefined): string | undefined
}

/**
 * An exposure that waits a while for servers that are still starting before it searches, because they may have the
 * tool. If they need longer, the answer names them. If nothing is found, it also names those that cannot be started: a model would
 * conclude that there is no such tool. For the same reason, a call of a tool that waits for the user's approval is told so.
 */
export function awaitTools(
  exposure: Exposure,
  { isStarting, listStarting, untilStarted, listFailed, findHeld }: StartingServers & FailedServers & HeldTools,
): Exposure {
  return {
    ...exposure,
    expose(catalog, reader) {
      const inner = exposure.expose(catalog, reader)
      const call: ExposedCatalog['call'] = async (name, args, context) => {
        const isAwaited = isStarting() && !inner.target(name, args)
        if (isAwaited) await untilStarted()
        const result = await inner.call(name, args, context)
        const hasNothing = hasFoundNothing(result)
        const held = hasNothing ? findHeld(readWanted(inner, name, args).name, context.client) : undefined
        if (held !== undefined) return describeHeld(held)
        const starting = isAwaited ? listStarting() : []
        const failed = hasNothing ? listFailed(context.client) : []
        const notes = [
          ...(starting.length > 0 ? [describeStarting(starting)] : []),
          ...(failed.length > 0 ? [describeFailed(failed)] : []),
        ]
        return notes.length === 0 ? result : addNotes(result, notes)
      }
      return changeExposed(inner, { call })
    },
  }
}

function describeHeld(tool: string): CallResult {
  const text = `Tool '${showInvisible(tool)}' was not run: its definition is new or has changed, and waits for the user's approval. Ask the user to run "foldout pins".`
  return { content: [{ type: 'text', text }], isError: true }
}

function addNotes(result: CallResult, notes: readonly string[]): CallResult {
  return { ...result, content: [...result.content, ...notes.map((text) => ({ type: 'text', text }))] }
}

const MAX_NAMED = 5

function describeStarting(servers: readonly string[]): string {
  const [first = '', ...others] = servers
  if (others.length === 0)
    return `The server '${first}' is still starting, so its tools are not known yet. If you need one of them, try again in a few seconds.`
  return `These servers are still starting, so their tools are not known yet: ${nameSome(servers)}. If you need one of them, try again in a few seconds.`
}

/** The same in every answer while the same servers fail, whatever the reasons, which the user reads elsewhere. */
function describeFailed(servers: readonly FailedServer[]): string {
  const signIns = servers.filter(({ needsSignIn }) => needsSignIn).map(({ name }) => name)
  const broken = servers.filter(({ needsSignIn }) => !needsSignIn).map(({ name }) => name)
  const advise = (command: string): string => `ask the user to run "foldout ${command}"`
  const parts = [
    ...(broken.length > 0 ? [`Cannot be started: ${nameSome(broken)} (${advise('doctor')}).`] : []),
    ...signIns.slice(0, MAX_NAMED).map((name) => `Needs a sign-in: ${name} (${advise(`login ${name}`)}).`),
  ]
  return `The tool may be on a server that is unavailable. ${parts.join(' ')}`
}

function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`
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
