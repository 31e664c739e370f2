import { sha256Hex } from '../../core/hash.ts'
import type { JsonObject as Fields } from '../../core/json/json.ts'
import { readMetadata } from '../../sections/skills/metadata.ts'
import type { Skill } from '../../sections/skills/skill.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'

/**
 * Turns the folded sections of a prompt into skills, to serve them over MCP to clients that know skills. The summary is the
 * description; the text has the names of the section's tools.
 *
 * @example
 * ```ts
 * const skills = skillsFromSections(bound)
 * skills.map(({ name }) => name) // => [ 'refunds', 'guide' ]
 * ```
 */
export function skillsFromSections(bound: Pick<BoundPrompt, 'render'>): readonly Skill[] {
  const { view } = bound.render()
  const names = new Set<string>()
  return view.folded.map(({ path }) => {
    const opened = view.opened([path])
    const section = view.texts.find((text) => text.path === path)
    const name = findName(path, names)
    const tools = opened.toolsIn(path).map((tool) => tool.name)
    const description = section?.summary?.replaceAll(/\s+/g, ' ').trim() || (section?.title ?? name)
    const metadata = { 'io.modelcontextprotocol/tools': tools.join(' ') }
    const fields: Fields = { name, description, ...(tools.length > 0 && { metadata }) }
    const body = opened.content(path)
    const front = Object.entries(fields).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    const text = `---\n${front.join('\n')}\n---\n${body}\n`
    return {
      name,
      key: name,
      description,
      fields,
      body,
      text,
      ...readMetadata(fields),
      digest: `sha256:${sha256Hex(text)}`,
      path: name,
      category: '',
      files: [],
      folder: undefined,
      scope: 'program',
      warnings: [],
    }
  })
}

/** The longest name of the format is 64 characters. */
const LONGEST = 60

/** A name that clients accept. Paths that differ in other characters only get numbers. */
function findName(path: string, taken: Set<string>): string {
  const base = path
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(-LONGEST)
    .replaceAll(/^-+|-+$/g, '')
  let name = base
  for (let number = 2; taken.has(name); number++) name = `${base}-${number}`
  taken.add(name)
  return name
}
