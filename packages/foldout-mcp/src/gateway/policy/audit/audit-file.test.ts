import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../remove-folder.fixtures.ts'
import { openAuditFile } from './audit-file.ts'

describe('R56 an audit log of several gateways', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldout-audit-'))
  })
  afterEach(() => removeFolder(folder))

  it.each(['', '{"at":"2026-01-01"}\n', '{"at":"2026-01-01"}\n{"at":"20'])('is continued after %j', async (before) => {
    const file = join(folder, 'audit.jsonl')
    writeFileSync(file, before)
    const log = openAuditFile({ file, maxBytes: 1_000_000, keep: 1 })
    for (const at of ['2026-01-02', '2026-01-03']) await log.append('', [JSON.stringify({ at })])
    const { entries } = await log.search({ limit: 2 })
    expect(entries).toEqual([{ at: '2026-01-03' }, { at: '2026-01-02' }])
    expect(readFileSync(file, 'utf8')).not.toMatch(/^\n|\n\n/)
  })

  it('loses nothing when it is rotated, and reports no problem', async () => {
    const settings = { file: join(folder, 'audit.jsonl'), maxBytes: 1_000, keep: 400 }
    const gateways = Array.from({ length: 4 }, () => openAuditFile(settings))
    await Promise.all(
      gateways.map(async (gateway, index) => {
        for (let call = 0; call < 50; call++)
          await gateway.append(`${index}.${call}`, [
            JSON.stringify({ call: `${index}.${call}`, text: 'x'.repeat(200) }),
          ])
      }),
    )
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    const calls = files.flatMap((text) => text.match(/"call":"[^"]+"/g) ?? [])
    expect(new Set(calls).size).toBe(200)
    // Files are renamed only when they are full, so there are not too many.
    expect(files.length).toBeLessThanOrEqual(51)
  })
})
