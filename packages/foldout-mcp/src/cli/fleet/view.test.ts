import { describe, expect, it } from 'vitest'
import type { GatewayStatus } from '../../gateway/store/contract/gateway-store.ts'
import { joinTransports } from './view.ts'

const URL = 'http://127.0.0.1:8414/mcp'

function register(name: string, more: Partial<GatewayStatus> = {}): GatewayStatus {
  const common = { host: 'a', pid: 7, version: '1', state: 'alive', startedAt: '', silentMs: 5 } as const
  return { name, url: undefined, ...common, ...more }
}

describe('the gateways of a fleet', () => {
  it('are one for each process, with all of its transports', () => {
    const gateways = [
      register('11111111-a', { url: URL, silentMs: 90_000, state: 'silent' }),
      register('11111111-b'),
      register('22222222-c', { pid: 8 }),
    ]
    expect(joinTransports(gateways)).toEqual([
      { ...gateways[0], state: 'alive', silentMs: 5, transports: ['http', 'stdio'] },
      { ...gateways[2], transports: ['stdio'] },
    ])
  })

  it('are two if a later process has the same pid', () => {
    const gateways = [register('11111111-a', { state: 'gone' }), register('22222222-b')]
    expect(joinTransports(gateways).map(({ state }) => state)).toEqual(['gone', 'alive'])
  })
})
