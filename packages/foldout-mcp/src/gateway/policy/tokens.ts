import { createHash, timingSafeEqual } from 'node:crypto'
import type { Authorization } from 'foldout/mcp'
import { UsageError } from '../config/config.ts'
import type { HttpDefinition } from '../config/definition.ts'
import { fillVariables, type Variables } from '../config/variables.ts'
import { MIN_TOKEN_LENGTH } from './limits.ts'

/** A token that clients may send. */
export interface Token {
  readonly user: string
  readonly token: string
}

/**
 * Fills in the variables of the configured tokens.
 *
 * @throws UsageError that names the wrong token and what is wrong with it.
 */
export function readTokens({ tokens = [] }: HttpDefinition, variables: Variables): readonly Token[] {
  const read = tokens.map((given, i) => {
    const written = typeof given === 'string' ? given : given.token
    const user = typeof given === 'string' ? (/^\$\{(\w+)\}$/.exec(given)?.[1] ?? `token ${i + 1}`) : given.user
    const token = fill(written, variables, user)
    if (!/^[\x21-\x7E]+$/.test(token) || token.length < MIN_TOKEN_LENGTH)
      throw new UsageError(
        `The token of '${user}' in "http.tokens" must have at least ${MIN_TOKEN_LENGTH} characters, without spaces. Create one with: openssl rand -hex 32`,
      )
    return { user, token }
  })
  if (new Set(read.map(({ token }) => token)).size < read.length)
    throw new UsageError('Two entries of "http.tokens" have the same token. Give each user a different one.')
  return read
}

function fill(text: string, variables: Variables, user: string): string {
  try {
    return fillVariables(text, variables)
  } catch (error) {
    throw new UsageError(`The token of '${user}' in "http.tokens" is missing. ${(error as Error).message}`)
  }
}

/** The path of the document that tells clients how to sign in (RFC 9728). The path of the resource follows it. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Identifies the user by the token of a request, or says how to authenticate. */
export function checkToken(
  { url, headers }: Pick<Request, 'url' | 'headers'>,
  tokens: readonly Token[],
  publicUrl: string | undefined,
): Authorization {
  const [, given] = /^Bearer +([\x21-\x7E]+) *$/i.exec(headers.get('authorization') ?? '') ?? []
  const digest = hash(given ?? '')
  // Compares all of them, so that timing reveals nothing.
  let owner: Token | undefined
  for (const token of tokens) if (timingSafeEqual(hash(token.token), digest)) owner = token
  if (owner) return { principal: owner.user }
  const { origin, pathname } = new URL(url)
  const metadata = `${publicUrl === undefined ? origin : new URL(publicUrl).origin}${METADATA_PATH}${pathname}`
  const error = given === undefined ? '' : 'error="invalid_token", '
  return {
    status: 401,
    message: 'This gateway needs a token: send the header "Authorization: Bearer <token>".',
    challenge: `Bearer ${error}resource_metadata="${metadata}"`,
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The metadata document for a path of the gateway. */
export function describeResource(origin: string, path: string): object {
  return { resource: `${origin}${path}`, bearer_methods_supported: ['header'], resource_name: 'Foldout' }
}
