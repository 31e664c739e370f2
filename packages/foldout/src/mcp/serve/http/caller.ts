import type { HttpRequest } from '../../transports/http/exchange.ts'
import { toPeer } from '../../transports/http/peer-counter.ts'
import { HTTP_ERROR, refuse, type HttpRefusal } from '../../transports/http/refusal.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import type { Authorization, Authorize } from '../contract/authorize.ts'

/** Who sent a request. */
export interface Caller {
  /** The key it is counted under: the principal, or an address. */
  readonly peer: string
  /** The identity returned by `authorize`. */
  readonly principal: string | undefined
}

/** @throws HttpRefusal if a request is rejected. */
export async function identify(request: HttpRequest, authorize: Authorize | undefined): Promise<Caller> {
  if (!authorize) return { peer: toPeer(request.address), principal: undefined }
  const authorization = await authorize(request.toRequest())
  if (!isAuthorized(authorization)) throw createRefusal(authorization)
  return { peer: authorization.principal, principal: authorization.principal }
}

function isAuthorized(authorization: Authorization): authorization is { readonly principal: string } {
  return isObject(authorization) && 'principal' in authorization && typeof authorization.principal === 'string'
}

/** Creates the answer to a request that a hook rejected or answered incorrectly. */
function createRefusal(authorization: Exclude<Authorization, { readonly principal: string }>): HttpRefusal {
  const { status, message, challenge } = authorization
  if (status !== 401 && status !== 403)
    throw new FoldoutError(
      'mcp-authorize',
      'authorize() must return { principal } or { status: 401 } or { status: 403 }.',
    )
  const isSignIn = status === 401
  const told = message ?? (isSignIn ? 'Sign in to use this server.' : 'You may not use this server.')
  const header = challenge ?? (isSignIn ? 'Bearer' : undefined)
  return refuse(status, HTTP_ERROR, told, header === undefined ? {} : { 'www-authenticate': header })
}
