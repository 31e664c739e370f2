import type { JSONRPCRequest, Result } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../core/json/json.ts'
import { LEGACY_VERSIONS } from './messages.ts'
import type { ServeMcpOptions } from '../options.ts'
import type { ClientView } from '../views.ts'

/** What a server says about itself. */
export interface ServerDescription {
  readonly info: { readonly name: string; readonly version: string; readonly title?: string }
  readonly capabilities: Readonly<Record<string, object>>
  readonly instructions: string
}

export function describeServer(
  options: ServeMcpOptions,
  { features, library, instructions }: ClientView,
): ServerDescription {
  const { name, version, title } = options
  return {
    info: { name, version, ...(title === undefined ? {} : { title }) },
    capabilities: {
      ...features?.capabilities,
      ...(library ? { resources: {}, prompts: {} } : {}),
      tools: { listChanged: true },
    },
    instructions,
  }
}

/** Answers the `initialize` of a legacy client, as the SDK does. */
export function answerInitialize(
  { info, capabilities, instructions }: ServerDescription,
  request: JSONRPCRequest,
): Result {
  const [newest] = LEGACY_VERSIONS
  const asked: unknown = request.params?.['protocolVersion']
  return {
    protocolVersion: LEGACY_VERSIONS.find((version) => version === asked) ?? newest,
    capabilities,
    serverInfo: info,
    ...(instructions === '' ? {} : { instructions }),
  }
}

/** What a client can do. Before there were two kinds of questions, it declared one without naming it. */
export function readCapabilities(request: JSONRPCRequest): Readonly<Record<string, unknown>> {
  const given: unknown = request.params?.['capabilities']
  const capabilities = isPlainObject(given) ? given : {}
  const { elicitation } = capabilities
  const isUnnamed = isPlainObject(elicitation) && Object.keys(elicitation).length === 0
  return isUnnamed ? { ...capabilities, elicitation: { form: {} } } : capabilities
}

/** The capability of the server that a notification needs. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ['notifications/message', 'logging'],
  ['notifications/resources/updated', 'resources'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
])

/** Throws if a server must not send a notification, because it has not declared that it would. */
export function checkNotification(method: string, { capabilities }: ServerDescription): void {
  const needed = NEEDED.get(method)
  if (needed !== undefined && !capabilities[needed])
    throw new Error(`The server does not declare the capability '${needed}', which ${method} needs.`)
}
