import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeFolder } from '../remove-folder.fixtures.ts'
import { createGateway } from './gateway.ts'

it.each([[NaN], [-1], [2 ** 31], ['5'], [null], [{}]])(
  'R51 a time that is no number of milliseconds is refused: %j',
  async (given: unknown) => {
    const folder = mkdtempSync(join(tmpdir(), 'foldout-options-'))
    const options = { cache: join(folder, 'cache'), data: join(folder, 'data') }
    const open = (more: object = {}) => createGateway({ mcpServers: {} }, { ...options, ...more })
    await expect(open({ timeoutMs: given })).rejects.toThrow(
      'timeoutMs must be a number of milliseconds, from 1 to 2147483647.',
    )
    const gateway = await open()
    await expect(gateway.ready(given as number)).rejects.toThrow('withinMs must be a number')
    await gateway.ready(0)
    await gateway.close()
    await removeFolder(folder)
  },
)
