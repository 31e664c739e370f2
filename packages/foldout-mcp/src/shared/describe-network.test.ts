import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { describeAuthFailure } from '../gateway/auth/auth-fetch.ts'
import { describeNetworkFailure } from './describe-network.ts'
import { createSite, type Site } from '../gateway/policy/gateway.fixtures.ts'

const fail = (code: string, more: object = {}): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('for experts'), { code, ...more }) })

describe('R53 a connection that fails is described in plain words', () => {
  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /is self-signed\. .*NODE_EXTRA_CA_CERTS/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /an authority that is not trusted here/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /an authority that is not trusted here/],
    ['CERT_HAS_EXPIRED', /has expired/],
    ['CERT_NOT_YET_VALID', /is not valid yet/],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', /cannot agree on a secure connection: old/],
  ])('%s', (code, text) => {
    const error = fail(code, { reason: 'old' })
    expect(describeNetworkFailure([error, error.cause])).toMatch(text)
    expect(describeAuthFailure(error)).toMatch(text)
  })

  it('names the hosts of a certificate for others', () => {
    const error = fail('ERR_TLS_CERT_ALTNAME_INVALID', {
      cert: { subjectaltname: 'DNS:a.example, DNS:*.b.example, IP Address:10.0.0.1' },
    })
    expect(describeNetworkFailure([error.cause])).toBe(
      'The certificate of the server is not valid for the host of its address. It is for a.example, *.b.example, 10.0.0.1.',
    )
  })

  it('leaves the words of other errors', () => {
    expect(describeNetworkFailure([fail('ECONNREFUSED'), undefined])).toBeUndefined()
    expect(describeAuthFailure(fail('ECONNREFUSED'))).toBe('for experts.')
  })
})

describe('R53 a server with the wrong beginning of its address', () => {
  let site: Site
  let server: Server
  afterEach(async () => {
    await site.close()
    server.close()
  })

  it.each([
    ['https', createHttpServer((_, response) => response.end()), /does not use HTTPS on this port/],
    // What a server does with a request that is not TLS.
    ['http', createTcpServer((socket) => socket.on('data', () => socket.end())), /If it uses HTTPS, its address must/],
  ])('%s', async (scheme, created, text) => {
    site = createSite()
    server = created
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const gateway = await site.create({ mcpServers: { a: { url } } })
    expect(gateway.servers[0]?.state).toMatchObject({ type: 'failed', reason: expect.stringMatching(text) as string })
  })
})
