import { describe, expect, it } from 'vitest'
import type { GatewayRegister, GatewayStatus } from '../../store/contract/gateway-store.ts'
import { explainMissing } from './tasks.ts'

const MARK = '6b9868ef'
const ID = `c060cbb5-adbb-4de5-a571-7fa2f74e38d0-${MARK}`

function createRow(changes: Partial<GatewayStatus>): GatewayStatus {
  const about = {
    host: 'vm',
    pid: 7,
    version: '1',
    startedAt: '',
    silentMs: 0,
    state: 'alive',
    url: undefined,
  } as const
  return { name: `${MARK}-0`, ...about, ...changes }
}

function explain(...rows: readonly GatewayStatus[]): Promise<string> {
  const register = { mark: '00000000', list: async () => rows } as unknown as GatewayRegister
  return explainMissing(ID, register)
}

describe('R65 a task of another gateway', () => {
  it('is explained with the address of that gateway, which may have a row without one', async () => {
    const url = 'http://127.0.0.1:8414/mcp'
    for (const rows of [
      [createRow({}), createRow({ url })],
      [createRow({ url }), createRow({})],
      [createRow({ state: 'gone', url: 'http://gone' }), createRow({ url })],
    ])
      expect(await explain(...rows)).toContain(`process 7 on vm, ${url}. Send`)
    expect(await explain(createRow({}))).toContain('process 7 on vm. Send')
  })

  it('is gone with it', async () => {
    const gone = 'The gateway that began it has gone, and the task with it.'
    expect(await explain()).toContain(gone)
    expect(await explain(createRow({ state: 'gone' }))).toContain(gone)
    expect(await explain(createRow({ name: 'another' }))).toContain(gone)
  })
})
