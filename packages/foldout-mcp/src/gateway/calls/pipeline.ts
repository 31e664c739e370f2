import {
  changeExposed,
  type CallContext,
  type CallResult,
  type ExposedCatalog,
  type Exposure,
  type RawTool,
} from 'foldout/catalog'
import { compose, type Call, type CallScope, type CallStage, type Next, type Stage } from './call/call.ts'
import type { CalledServer } from '../servers/server-tool.ts'
import type { JsonObject } from 'foldout-shared/values'
import type { Request, RequestScope, RequestStage } from './requests/request.ts'
import type { ServerTool } from '../servers/server-tool.ts'
import { ALLOWED, createFacts, type ToolFacts } from '../policy/rules/rules.ts'
import { approve } from './stages/approve.ts'
import { audit } from './stages/audit.ts'
import { awaitServers } from './requests/await-servers.ts'
import { decide } from './stages/decide.ts'
import { explainFailure } from './stages/explain-failure.ts'
import { foldResult } from './requests/fold-result.ts'
import { limitConcurrency } from './stages/limit-concurrency.ts'
import { limitSize } from './stages/limit-size.ts'
import { limitTime } from './stages/limit-time.ts'
import { logDenied } from './requests/log-denied.ts'
import { nameResources } from './stages/name-resources.ts'
import { readResult } from './requests/read-result.ts'
import { recheck } from './stages/recheck.ts'
import { reportAnswer } from './stages/report-answer.ts'
import { reportRequest } from './requests/report-request.ts'
import { takeQuota } from './stages/take-quota.ts'
import { toStage } from './stages/own-stage.ts'
import { toWho } from '../policy/guard.ts'

/**
 * Everything that happens to a client's request, in this order. One request makes any number of calls of servers' tools: a search
 * makes none, and a program makes many. Each of them takes the stages of a call.
 */
export const REQUEST_STAGES: readonly RequestStage[] = [
  reportRequest, // recordings get what the client got
  readResult, //    the gateway's own tool needs no server
  logDenied, //     calls of tools that the client must not see
  awaitServers, //  those that are starting may have the tool
  foldResult, //    a large result becomes a summary and a handle
]

const run = compose<Request, Promise<CallResult>>(REQUEST_STAGES, ({ exposed, name, arguments: args, context }) =>
  exposed.call(name, args, context),
)

let lastRequest = 0

/** An exposure whose calls go through the stages. */
export function exposeThroughStages(exposure: Exposure, scope: RequestScope): Exposure {
  return {
    ...exposure,
    expose(catalog, reader) {
      const exposed = exposure.expose(catalog, reader)
      const call: ExposedCatalog['call'] = (name, args, given) => {
        const number = ++lastRequest
        const client = given.client && scope.toScoped(given.client)
        const context = { ...given, ...(client && { client }), request: number }
        return run({ scope, number, reader: reader.id, exposed, name, arguments: args, context })
      }
      return changeExposed(exposed, { list: () => scope.results.list(exposed.list()), call })
    },
  }
}

/**
 * Everything that happens to a call of a server's tool, in this order. The order is security: what stops a call comes before what
 * spends something on it, and everything that a person or a rule decides on is final before it is decided.
 */
export function listStages(own: readonly CallStage[] = []): readonly Stage[] {
  return [
    nameResources, //    the result names resources by the URIs that clients use
    audit, //            one line for each call, whatever stops it below
    ...own.map(toStage), // arguments may change, so before anything is decided about them
    decide, //           the rules: allowed, denied, or the user decides
    approve, //          the user, who sees the arguments that will be sent
    takeQuota, //        counts only calls that may run
    recheck, //          pins and rules again, on what the running server defines
    reportAnswer, //     recordings get what the server answered
    limitConcurrency, // waits for its turn
    limitTime, //        the time begins with the turn
    limitSize, //        too large for the client
    explainFailure, //   failures in words, without secrets
  ]
}

const send: Next = ({ server, tool, arguments: args, check, context }) =>
  server.send({ tool: tool.definition.name, args, check }, context)

/** Runs calls of tools through the stages. */
export class CallPipeline {
  readonly #scope: CallScope
  readonly #run: Next

  constructor(scope: CallScope, own: readonly CallStage[] = []) {
    this.#scope = scope
    this.#run = compose(listStages(own), send)
  }

  /** A tool as clients call it. */
  toRawTool(server: CalledServer, tool: ServerTool): RawTool {
    const facts = createFacts(this.#scope.preset, server.name, tool)
    return {
      ...tool.shown,
      source: server.name,
      watchesSignal: true,
      call: (args, context) => this.#run(this.#createCall({ server, tool, facts }, args, context)),
    }
  }

  #createCall(
    { server, tool, facts }: { readonly server: CalledServer; readonly tool: ServerTool; readonly facts: ToolFacts },
    given: JsonObject,
    context: CallContext,
  ): Call {
    const args = tool.complete(given)
    return {
      scope: this.#scope,
      preset: this.#scope.preset,
      client: context.client,
      path: `${server.name}/${tool.shown.name}`,
      annotations: tool.shown.annotations,
      who: toWho(context),
      server,
      tool,
      facts,
      given,
      arguments: args,
      context,
      check: refuseUnchecked,
      record: { decision: ALLOWED, refusal: undefined, arguments: args },
    }
  }
}

/** Without the stage that checks the definition, no call is sent. */
function refuseUnchecked(): string {
  return 'its definition was not checked.'
}
