import { changeExposed, type ExposedCatalog, type Exposure, type RawTool } from 'foldout/catalog'
import { isObject, type JsonObject } from '../fields.ts'
import type { AuditLog } from './audit/audit.ts'
import { countBytes, describeClient, toWho, type Guard, type GuardedServer } from './guard.ts'
import type { Who } from './rules.ts'

export interface DeniedCalls {
  /** The audit log of this moment, if there is one. */
  getAudit(): AuditLog | undefined
  readonly preset: string
  readonly guard: Guard
  /** All tools of the preset, the denied ones among them. */
  getTools(): Iterable<readonly [GuardedServer, readonly RawTool[]]>
}

/** Logs calls of denied tools. A client does not have these tools, so its calls end before any tool can log them. */
export function logDeniedCalls(exposure: Exposure, denied: DeniedCalls): Exposure {
  const { getAudit, preset } = denied
  return {
    ...exposure,
    expose(catalog, reader) {
      const inner = exposure.expose(catalog, reader)
      const callLogged = async (audit: AuditLog, ...[name, args, context]: Parameters<ExposedCatalog['call']>) => {
        const start = performance.now()
        const result = await inner.call(name, args, context)
        if (result.isError !== true || inner.target(name, args)) return result
        const wanted = readWanted(inner, name, args)
        const tool = findDenied(denied, wanted.name, toWho(context))
        if (tool === undefined) return result
        audit.note({
          client: describeClient(context.client),
          preset,
          tool,
          arguments: wanted.arguments,
          outcome: 'denied',
          durationMs: Math.round(performance.now() - start),
          bytes: countBytes(result),
        })
        return result
      }
      const call: ExposedCatalog['call'] = (...given) => {
        const audit = getAudit()
        return audit ? callLogged(audit, ...given) : inner.call(...given)
      }
      return changeExposed(inner, { call })
    },
  }
}

/** Finds the denied tool that a client calls by this name, as `server/tool`. */
function findDenied({ guard, getTools }: DeniedCalls, wanted: unknown, who: Who): string | undefined {
  for (const [server, tools] of getTools()) {
    const tool = tools.find(({ name }) => name === wanted || `${server.name}/${name}` === wanted)
    if (tool && guard.denies(server, tool, who)) return `${server.name}/${tool.name}`
  }
  return undefined
}

/** Reads which tool a client wants to run, itself or through a meta tool. */
export function readWanted(
  exposed: ExposedCatalog,
  name: string,
  args: unknown,
): { readonly name: unknown; readonly arguments: JsonObject } {
  const given = isObject(args) ? args : {}
  const isMeta = exposed.list().some((listed) => listed.name === name)
  if (!isMeta) return { name, arguments: given }
  return { name: given['name'], arguments: isObject(given['arguments']) ? given['arguments'] : {} }
}
