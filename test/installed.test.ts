import { describe, expect, it } from 'vitest'
import { measureInstalled } from '../tools/installed.ts'

describe('what npx foldout-mcp installs', () => {
  const { folders, bytes } = measureInstalled('foldout-mcp')

  it('is few packages, and neither the official SDK nor what it needs', () => {
    expect(folders.length).toBeLessThanOrEqual(25)
    expect(folders.filter((folder) => /@modelcontextprotocol|\/zod$|\/pg$|dbos|sucrase/.test(folder))).toEqual([])
    expect(folders).toContain('packages/foldout')
  })

  it('is at most 30 MB', () => {
    expect(bytes).toBeGreaterThan(1_000_000)
    expect(bytes).toBeLessThan(30_000_000)
  })
})
