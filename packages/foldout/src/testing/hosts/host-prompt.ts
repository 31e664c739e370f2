import type { AgentEvent } from '../../agent/events.ts'
import type { HostOptions } from '../../agent/hosts/core/contract.ts'
import { createCatalog } from '../../catalog/live/catalog.ts'
import { hybrid } from '../../catalog/exposures/hybrid.ts'
import { fromJsonSchema } from '../../core/schema/schema.ts'
import { openSections } from '../../disclosure/strategies/open-sections.ts'
import { definePrompt, type BoundPrompt } from '../../prompt/prompt.ts'
import { defineSection } from '../../prompt/definition/section.ts'
import { catalogSection } from '../../sections/catalog-section.ts'
import type { Skill } from '../../sections/skills/skill.ts'
import { skillSections } from '../../sections/skills/skill-sections.ts'
import { visibility } from '../../session/visibility.ts'
import { ok } from '../../tools/result.ts'
import { defineTool, type AnyTool } from '../../tools/tool.ts'
import type { HostAgent, SeenRequest } from './host-driver.ts'

/** What the prompt of the suite's desk did. */
export interface Desk {
  readonly bound: BoundPrompt
  /** The same prompt with a strategy that shows opened sections in the system text. */
  readonly restarting: BoundPrompt
  /** A prompt with a skill that brings a tool, and has a file, and one that has a script. */
  bindSkills(): Promise<BoundPrompt>
  /** The script of a skill, which prints its text. */
  readonly script: { text: string }
  /** The calls that ran. */
  readonly done: string[]
}

export interface Stage extends Desk {
  /** Everything that the model has received. */
  readonly requests: SeenRequest[]
  readonly events: AgentEvent[]
  /** Creates an agent; the replies continue where the last agent's stopped. */
  create(saved?: unknown): Promise<HostAgent>
}

export interface StageOptions {
  readonly isRestarting?: boolean
  readonly hasSkills?: boolean
  readonly options?: HostOptions
}

const REFUNDS: Skill = {
  name: 'money-back',
  key: 'money-back',
  description: 'Use it when somebody wants money back.',
  body: 'Refund at once. The fees are in fees.md.',
  text: '---\nname: money-back\n---\nRefund at once. The fees are in fees.md.',
  fields: { name: 'money-back' },
  tools: ['refund', 'fly'],
  allowedTools: [],
  isForModels: true,
  isForUsers: true,
  warnings: [],
  digest: `sha256:${'0'.repeat(64)}`,
  path: 'money-back',
  category: '',
  files: [{ path: 'fees.md', size: 13, read: async () => new TextEncoder().encode('It costs one.') }],
  folder: undefined,
  scope: 'program',
}

const COUNTING: Skill = {
  ...REFUNDS,
  name: 'counting',
  key: 'counting',
  description: 'Use it to count.',
  body: 'Run scripts/count.sh.',
  text: '---\nname: counting\n---\nRun scripts/count.sh.',
  fields: { name: 'counting' },
  tools: [],
  path: 'counting',
}

/** One pixel. */
const PICTURE = {
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
}

/** A prompt with folded sections that bring tools, one of which needs approval, and a catalog. */
export function createDesk(): Desk {
  const done: string[] = []
  const script = { text: 'one two' }
  const tool = (name: string, more: Partial<Parameters<typeof defineTool>[0]> = {}): AnyTool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      params: fromJsonSchema<{ readonly order?: string }>({
        type: 'object',
        properties: { order: { type: 'string' } },
      }),
      execute({ order = '' }) {
        done.push(`${name} ${order}`.trim())
        return ok(`${name} is done.`)
      },
      ...(more as object),
    })
  const fold = (key: string, tools: readonly AnyTool[], children: ReturnType<typeof defineSection>[] = []) =>
    defineSection({
      key,
      title: key,
      template: `The whole text of ${key}.`,
      summary: `About ${key}.`,
      visibility: 'summary',
      tools: [...tools],
      children,
    })
  const unlock = defineTool({
    name: 'unlock',
    description: 'Opens the vault.',
    execute(_params, { session }) {
      session.dispatch(visibility.events.set({ path: 'vault', visibility: 'full' }))
      return ok('Unlocked.')
    },
  })
  const lock = defineTool({
    name: 'lock',
    description: 'Folds the refunds.',
    execute(_params, { session }) {
      session.dispatch(visibility.events.set({ path: 'refunds', visibility: 'summary' }))
      return ok('Locked.')
    },
  })
  const show = defineTool({
    name: 'show',
    description: 'Shows a picture.',
    execute: () => ({ ...ok('Here it is.'), images: [PICTURE] }),
  })
  const catalog = createCatalog([tool('track_parcel'), tool('find_invoice')])
  const role = defineSection({
    key: 'role',
    title: 'role',
    template: 'You help.',
    tools: [tool('look'), unlock, lock, show],
  })
  const sections = [
    role,
    fold('refunds', [tool('refund')], [fold('limits', [tool('raise_limit')])]),
    fold('shipping', [tool('ship')]),
    fold('vault', [tool('take')]),
    fold('payments', [tool('pay', { needsApproval: () => 'Money leaves.' })]),
    catalogSection(catalog, { key: 'more', title: 'more', expose: hybrid(), summary: 'More tools.' }),
  ]
  const define = (disclosure?: ReturnType<typeof openSections>): BoundPrompt =>
    definePrompt({ ns: 'test', key: 'desk', sections, ...(disclosure && { disclosure }) }).bind()
  return {
    bound: define(),
    restarting: define(openSections()),
    async bindSkills() {
      const files = [{ path: 'scripts/count.sh', size: 7, read: async () => new TextEncoder().encode(script.text) }]
      const skills = await skillSections([REFUNDS, { ...COUNTING, files }], {
        tools: [tool('refund')],
        runScript: { run: async ({ text }) => text },
      })
      return definePrompt({ ns: 'test', key: 'skills', sections: skills }).bind()
    },
    script,
    done,
  }
}

/** The tools that are offered before anything is open. */
export const FIRST_TOOLS = ['look', 'unlock', 'lock', 'show', 'read_section']
