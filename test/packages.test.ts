import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listQuestions, readServerJson } from '../packages/foldout-mcp/src/registry/server-json.ts'
import { createBundleManifest, createServerJson, formatInstallLinks } from '../tools/metadata.ts'
import {
  completeManifest,
  listEntries,
  makeLinksAbsolute,
  PACKAGES,
  readManifest,
  readProject,
  repository,
} from '../tools/packages.mjs'

const project = { author: 'A', repository: 'https://example.com/a/b', branch: 'main' }
const nameless = { author: 'A', branch: 'main' }
const onGitHub = { ...nameless, repository: 'https://github.com/ada/foldout' }
const gateway = readManifest(join(repository, 'packages/foldout-mcp'))

describe('documents in packages', () => {
  it.each([
    ['[guide](docs/guide/prompts.md#fold)', '[guide](https://example.com/a/b/blob/main/docs/guide/prompts.md#fold)'],
    ['[license](./LICENSE)', '[license](https://example.com/a/b/blob/main/LICENSE)'],
    ['![fold](docs/fold.svg)', '![fold](https://example.com/a/b/raw/main/docs/fold.svg)'],
    ['<img alt="x" src="docs/fold.svg">', '<img alt="x" src="https://example.com/a/b/raw/main/docs/fold.svg">'],
    ['[here](#here)', '[here](#here)'],
    ['[there](https://example.org/x.md)', '[there](https://example.org/x.md)'],
    ['[mail](mailto:a@example.org)', '[mail](mailto:a@example.org)'],
    ['```md\n[code](stays.md)\n```', '```md\n[code](stays.md)\n```'],
  ])('%j', (text, expected) => {
    expect(makeLinksAbsolute(text, project)).toBe(expected)
  })

  it('have no links into a repository that is not known', () => {
    const text =
      'Read the [guide](docs/x.md) or [there](https://example.org). ![fold](a.svg)<img alt="x" src="b.svg"> [here](#here)'
    expect(makeLinksAbsolute(text, nameless)).toBe('Read the guide or [there](https://example.org).  [here](#here)')
  })
})

describe('package.json', () => {
  const library = join(repository, 'packages/foldout')

  it('has one subpath per entry, with its types first', () => {
    const { exports } = completeManifest(library, { name: 'foldout' }) as { exports: Record<string, unknown> }
    const subpaths = listEntries(library).map(({ subpath }) => subpath)
    expect(Object.keys(exports).sort()).toEqual([...subpaths, './package.json'].sort())
    expect(exports['.']).toEqual({ types: './dist/types/entries/index.d.ts', default: './dist/index.js' })
    expect(exports['./testing/suites']).toMatchObject({ default: './dist/testing-suites.js' })
  })

  it("has the repository's address, once there is one", () => {
    expect(completeManifest(library, {}, project)).toMatchObject({
      author: 'A',
      homepage: 'https://example.com/a/b#readme',
      bugs: { url: 'https://example.com/a/b/issues' },
      repository: { type: 'git', url: 'git+https://example.com/a/b.git', directory: 'packages/foldout' },
    })
    const before = { homepage: 'https://old.example', bugs: {}, repository: {}, mcpName: 'old' }
    expect(Object.keys(completeManifest(library, before, nameless))).toEqual(['author', 'exports'])
  })

  it.each(PACKAGES)('has no placeholder: %s', (name) => {
    const { repository: address } = readProject()
    const text = JSON.stringify(readManifest(join(repository, 'packages', name)))
    expect(text).not.toMatch(/OWNER|TODO|example\.com/)
    expect(text.includes('homepage')).toBe(address !== undefined)
  })
})

describe('server.json for the MCP registry', () => {
  it('is left out while the repository is unknown, and has the name of the package', () => {
    expect(createServerJson(nameless, gateway)).toBeUndefined()
    const name = 'io.github.ada/foldout'
    expect(completeManifest(join(repository, 'packages/foldout-mcp'), gateway, onGitHub)).toMatchObject({
      mcpName: name,
    })
    expect(createServerJson(onGitHub, gateway)).toMatchObject({ name, version: gateway['version'] })
  })

  it('obeys the limits of its schema, and starts the gateway', () => {
    const server = createServerJson(onGitHub, gateway) as { readonly name: string; readonly description: string }
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    expect(server.description.length).toBeLessThanOrEqual(100)
    const recipe = readServerJson(server, 'server.json')
    expect(listQuestions(recipe).map(({ id, isRequired }) => [id, isRequired])).toEqual([['config', true]])
    expect(recipe(() => ['/home/ada/foldout.config.json'])).toMatchObject({
      command: 'npx',
      args: ['-y', `foldout-mcp@${String(gateway['version'])}`, 'serve', '--config', '/home/ada/foldout.config.json'],
    })
  })
})

describe('how clients install the gateway', () => {
  it('has a bundle that starts with the configuration that the user chooses', () => {
    expect(createBundleManifest(nameless, gateway)).toMatchObject({
      version: gateway['version'],
      server: {
        mcp_config: {
          args: [expect.stringContaining('/bin/foldout.js'), 'serve', '--config', '${user_config.config}'],
        },
      },
    })
    expect(createBundleManifest(nameless, gateway)).not.toHaveProperty('repository')
  })

  it('has links for editors, which the guide shows', () => {
    expect(readFileSync(join(repository, 'docs/guide/start-servers.md'), 'utf8')).toContain(formatInstallLinks())
  })
})
