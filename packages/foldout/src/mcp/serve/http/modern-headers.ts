import { PROTOCOL_VERSION } from '../../keys.ts'
import { decodeHeader, getNamedParam, listRepeated } from '../../protocol/headers.ts'
import { getParams } from '../../protocol/messages.ts'
import type { ValidRequest } from '../../protocol/valid-message.ts'
import type { HttpRequest } from '../../transports/http/exchange.ts'
import { HttpRefusal } from '../../transports/http/refusal.ts'
import { getMeta } from '../requests/request.ts'
import type { ClientView } from '../views/views.ts'

/** The code for headers that say something else than the body. */
const HEADER_MISMATCH = -32_020

/**
 * Checks that the headers of a modern request say the same as its body, because proxies decide by them.
 *
 * @throws HttpRefusal if they do not.
 */
export function checkHeaders(request: HttpRequest, message: ValidRequest): void {
  const { method } = message
  const params = getParams(message)
  const expect = createCheck(request, message)
  expect('mcp-protocol-version', 'the version', String(getMeta(params)[PROTOCOL_VERSION]))
  expect('mcp-method', 'the method', method)
  const named = getNamedParam(method, params)
  if (named !== undefined) expect('mcp-name', 'the name', named, decodeHeader)
}

/** The same for the headers that repeat arguments of a call to a tool by its own name. */
export function checkParamHeaders(request: HttpRequest, message: ValidRequest, { exposed }: ClientView): void {
  const { name, arguments: args } = getParams(message)
  if (message.method !== 'tools/call' || typeof name !== 'string') return
  const entry = exposed.target(name, args)?.entry
  if (!entry || entry.name !== name) return
  const expect = createCheck(request, message)
  for (const { path, header, value } of listRepeated(entry.inputSchema, args)) {
    const wanted = String(value)
    const read = (sent: string): string | undefined => {
      const decoded = decodeHeader(sent)
      // Numbers may be written in several ways.
      if (typeof value === 'number' && decoded && Number(decoded) === value) return wanted
      return decoded
    }
    expect(header, path.join('.'), wanted, read)
  }
}

type Check = (header: string, what: string, wanted: string, read?: (sent: string) => string | undefined) => void

function createCheck(request: HttpRequest, { id }: ValidRequest): Check {
  const mismatch = (header: string, body: string): HttpRefusal => {
    const message = `Bad Request: the request headers and body disagree: ${body}`
    return new HttpRefusal(400, { code: HEADER_MISMATCH, message, data: { mismatch: { header, body } } }, {}, id)
  }
  return (header, what, wanted, read = (sent) => sent) => {
    const sent = request.getHeader(header)?.replace(/^[\t ]+|[\t ]+$/g, '')
    if (sent === undefined)
      throw mismatch('(missing)', `the body has ${what} ${wanted}, but there is no header ${header}`)
    const value = read(sent)
    if (value === undefined) throw mismatch(sent, `the header ${header} is not encoded as it says`)
    if (value !== wanted) throw mismatch(sent, `the body has ${what} ${wanted}, but the header ${header} is ${value}`)
  }
}
