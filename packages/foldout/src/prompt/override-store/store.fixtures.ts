import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { definePrompt, defineSection, defineTool, ok, type AnyPrompt } from '../../entries/index.ts'
import type { PromptOverrides } from '../../entries/overrides.ts'
import { createOverrideStore, type OverrideStore } from '../../entries/node.ts'

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  params: z.object({
    query: z.string().describe('What to look for.'),
    filter: z.object({ name: z.string() }).optional(),
  }),
  execute: () => ok('found'),
})

const report = defineTool({ name: 'report', description: 'Reports.', execute: () => ok('done') })

/** A prompt with every kind of section. */
export const support = (contextTemplate = 'Be kind to ${user}.') =>
  definePrompt({
    ns: 'agents/support',
    key: 'triage',
    sections: [
      defineSection({ key: 'task', title: 'Task', template: 'Answer ${user}.', tools: [search] }),
      defineSection({
        key: 'context',
        title: 'Context',
        template: contextTemplate as 'Be kind to ${user}.',
        summary: 'How to be.',
        visibility: 'summary',
        children: [defineSection({ key: 'details', title: 'Details', template: 'Always.' })],
      }),
      defineSection({ key: 'now', title: 'Now', render: () => 'It is noon.' }),
      defineSection({ key: 'law', title: 'Law', template: 'No harm.', acceptsOverrides: false, tools: [report] }),
    ],
  })

export const prompt = support()
export const tag = 'stable'
export const computeHash = (path: string, of: AnyPrompt = prompt): string =>
  of.descriptor.sections.find((section) => section.path === path)!.hash
export const toolHash = prompt.descriptor.tools[0]!.hash

/** Formats an override file of the prompt. */
export const file = (overrides: PromptOverrides): string =>
  `${JSON.stringify({ version: 1, ns: 'agents/support', key: 'triage', tag, ...overrides }, null, 2)}\n`

/** A store in a new folder, and the path of the prompt's file in it. */
export interface TemporaryStore {
  readonly root: string
  readonly store: OverrideStore
  readonly path: string
  text(): string
  put(content: string | Uint8Array): void
  remove(): void
}

export function temporaryStore(): TemporaryStore {
  const root = mkdtempSync(join(tmpdir(), 'foldout-overrides-'))
  const path = join(root, 'agents', 'support', 'triage', 'stable.json')
  return {
    root,
    store: createOverrideStore({ root }),
    path,
    text: () => readFileSync(path, 'utf8'),
    put(content) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
    },
    remove: () => rmSync(root, { recursive: true }),
  }
}
