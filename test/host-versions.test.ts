import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '../packages/foldout/package.json' with { type: 'json' }

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const repository = join(import.meta.dirname, '..')
const peers: Readonly<Record<string, string>> = packageJson.peerDependencies
const guide = readFileSync(join(repository, 'docs/guide/hosts.md'), 'utf8')

/** The version of a package that the tests of a folder install. */
function getVersion(folder: string, name: string): string | undefined {
  const file = join(repository, folder, 'package.json')
  if (!existsSync(file)) return undefined
  const { dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  return dependencies?.[name] ?? devDependencies?.[name]
}

describe('R73 the versions of a host that the suite runs on', () => {
  it.each([
    ['langchain', 'test/langchain', 'test/langchain/oldest'],
    ['@langchain/langgraph', 'test/langchain', 'test/langchain/oldest'],
    ['@openai/agents', 'test/openai-agents', 'test/openai-agents/oldest'],
    ['@mastra/core', 'test/mastra', 'test/mastra/oldest'],
    ['ai', 'test/ai-sdk/newest', 'test/ai-sdk/oldest'],
    ['ai', 'test/ai-sdk-7', 'test/ai-sdk-7/oldest'],
    ['@anthropic-ai/claude-agent-sdk', 'test/claude-agent', 'test/claude-agent/oldest'],
  ])('R73 are the oldest that %s may have, and a newer one: %s, %s', (name, newest, oldest) => {
    const [least, most] = [getVersion(oldest, name), getVersion(newest, name)]
    const ranges = peers[name]?.split(' || ') ?? []
    expect(ranges.map((range) => range.replace(/^(?:\^|>=)/, '').split(' ')[0])).toContain(least)
    expect(most?.localeCompare(least ?? '', 'en', { numeric: true })).toBe(1)
    // Its users are told; LangGraph comes with LangChain.
    const told = name === '@langchain/langgraph' ? [] : [least, most]
    expect(told.filter((version) => !guide.includes(version ?? ''))).toEqual([])
  })
})
