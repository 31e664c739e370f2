import type { Catalog } from '../../catalog/contract.ts'
import { createCatalog } from '../../catalog/live/catalog.ts'
import type { CatalogInput } from '../../catalog/tool.ts'
import { nameSome, shorten } from '../../core/text.ts'
import type { AnyTool, ApprovalNeed } from '../../tools/tool.ts'
import { createToolFinder } from '../catalog-section.ts'
import type { Skill } from './skill.ts'

/** Finds tools by the names that skills write. */
export type FindTool = (name: string) => AnyTool | undefined

/**
 * Tools that skills can bring: from code, from MCP servers, or of a catalog.
 *
 * @example
 * ```ts
 * const tools: SkillTools = [refund, look]
 * const skills = await skillSections(createHostFilesystem('skills'), { tools })
 * ```
 */
export type SkillTools = readonly CatalogInput[] | Catalog

export function createFinder(tools: SkillTools): FindTool {
  if (!Array.isArray(tools)) return createToolFinder(tools as Catalog)
  const own = new Map<string, AnyTool>()
  const others: CatalogInput[] = []
  for (const tool of tools as readonly CatalogInput[]) {
    if ('execute' in tool) own.set(tool.name, tool)
    else others.push(tool)
  }
  const find = createToolFinder(createCatalog(others))
  return (name) => own.get(name) ?? find(name)
}

/** The tools that a skill brings, and the names that are not there. */
export interface BroughtTools {
  readonly tools: readonly AnyTool[]
  readonly missing: readonly string[]
}

export function bringTools(skill: Skill, find: FindTool, bringAllowed: boolean): BroughtTools {
  const tools = new Map<string, AnyTool>()
  const missing: string[] = []
  for (const name of skill.tools) {
    const tool = find(name)
    if (tool) tools.set(tool.name, tool)
    else missing.push(name)
  }
  // These are often tools of other programs, so it is no fault if one is not there.
  if (bringAllowed)
    for (const rule of skill.allowedTools) {
      const tool = find(toName(rule))
      if (tool) tools.set(tool.name, tool)
    }
  return { tools: [...tools.values()], missing }
}

/** `Bash(git *)` allows some calls of `Bash`. */
function toName(rule: string): string {
  return rule.split('(', 1)[0] ?? rule
}

/**
 * Says to the person who approves a call which skills name the tool in `allowed-tools`. It never makes an approval
 * unnecessary: the author of a skill does not decide what runs.
 */
export function informApprovals(tools: readonly AnyTool[], skills: readonly Skill[]): ReadonlyMap<AnyTool, AnyTool> {
  const informed = new Map<AnyTool, AnyTool>()
  for (const tool of tools) {
    const { needsApproval } = tool
    const allowing = skills.filter(({ allowedTools }) => allowedTools.some((rule) => toName(rule) === tool.name))
    if (!needsApproval || allowing.length === 0) continue
    const names = nameSome(
      allowing.map(({ name }) => shorten(name)),
      3,
    )
    const note = `In the allowed-tools of: ${names}.`
    informed.set(
      tool,
      Object.freeze({
        ...tool,
        async needsApproval(...given: Parameters<typeof needsApproval>): Promise<ApprovalNeed> {
          const need = await needsApproval.apply(tool, given)
          if (need === false) return false
          if (need === true) return note
          return `${need} ${note}`
        },
      }),
    )
  }
  return informed
}
