import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { runOwnCommand } from './own-command.ts'

vi.mock('../limits.ts', () => ({ OWN_COMMAND_TIMEOUT_MS: 200 }))

describe('R52 a client’s own program', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-own-command-'))
  })
  afterEach(() => removeFolder(folder))

  it('is not waited for if it hangs, even if what it has started keeps its output open', async () => {
    const program = join(folder, 'claude')
    writeFileSync(program, '#!/bin/sh\nsleep 3 &\nwait\n')
    chmodSync(program, 0o755)
    const started = Date.now()
    const failure = await runOwnCommand({ program, args: [] }, { env: process.env, platform: 'linux', project: folder })
    expect(failure).toBe('it did not finish within 0.2 seconds')
    expect(Date.now() - started).toBeLessThan(2_500)
  })
})
