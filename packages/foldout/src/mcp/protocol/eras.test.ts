import { describe, expect, it } from 'vitest'
import { addSender, isModernVersion, LEGACY_VERSIONS, MODERN_VERSIONS, readVersion, type Era } from './eras.ts'
import { createLinkedTransports } from './linked.fixtures.ts'
import { Peer } from './peer.ts'

describe('the eras of the protocol', () => {
  it.each<[unknown, Era]>([
    ...MODERN_VERSIONS.map((version): [string, Era] => [version, 'modern']),
    ...LEGACY_VERSIONS.map((version): [string, Era] => [version, 'legacy']),
    ['2027-01-01', 'modern'],
    ['DRAFT-2027', 'legacy'],
    ['2026-07-28-rc', 'legacy'],
    [20_270_101, 'legacy'],
    [undefined, 'legacy'],
  ])('begin with a version: %s is %s', (version, era) => {
    expect(isModernVersion(version)).toBe(era === 'modern')
  })

  it('let a modern request say who sends it, and keep what it says already', () => {
    const sender = { version: '2026-07-28', info: { name: 'a', version: '1' }, capabilities: { sampling: {} } }
    const meta = { 'io.modelcontextprotocol/clientCapabilities': {}, trace: 'x' }
    const params = addSender({ name: 'b', _meta: meta }, sender)
    expect(params).toEqual({
      name: 'b',
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
        ...meta,
      },
    })
    expect(readVersion(params)).toBe('2026-07-28')
    expect(readVersion({ _meta: { 'io.modelcontextprotocol/protocolVersion': 7 } })).toBeUndefined()
    expect(readVersion({ _meta: 'none' })).toBeUndefined()
  })

  it('work over any transport', async () => {
    const transports = createLinkedTransports()
    const peers = transports.map(
      (transport) =>
        new Peer({ send: (message) => transport.send(message), onRequest: async ({ params }) => ({ echo: params }) }),
    )
    await Promise.all(
      transports.map((transport, at) =>
        transport.start({
          receive: (message) => peers[at]?.receive(message),
          close: () => peers[at]?.close(),
        }),
      ),
    )
    const [one] = peers
    expect(await one?.request('ask', { a: 1 })).toEqual({ echo: { a: 1 } })
    await transports[1].close()
    await expect(one?.request('ask')).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
  })
})
