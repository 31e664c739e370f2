import { escapeTemplate } from '../../core/template.ts'
import { formatCount } from '../../core/text.ts'
import { checkNumber } from '../../core/check-number.ts'
import { defineSection, type Section } from '../../prompt/definition/section.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { MIN_SKILL_DESCRIPTION } from './limits.ts'
import { toKey } from './read-skill.ts'
import { readSkills, type ReadSkillsOptions } from './read-skills.ts'
import { createScriptTool, listScripts, type RunScript } from './scripts.ts'
import type { Skill, SkillSource } from './skill.ts'
import { getSkillUse, keepSkillText } from './skill-state.ts'
import { formatSkill, readSkillFile } from './skill-text.ts'
import { bringTools, createFinder, informApprovals, type FindTool, type SkillTools } from './skill-tools.ts'

/**
 * Options of {@link skillSections}.
 *
 * @example
 * ```ts
 * const options: SkillSectionsOptions = { folder: 'skills', onBroken: (error) => console.warn(error.message) }
 * const skills = await skillSections(createHostFilesystem('.'), options)
 * skills.map(({ key }) => key) // => [ 'refunds' ]
 * ```
 */
export interface SkillSectionsOptions extends ReadSkillsOptions {
  /** The tools that skills can bring when they open, by the names that they write: from code, MCP servers, or a catalog. */
  readonly tools?: SkillTools
  /** Whether a skill also brings the tools of its `allowed-tools` that are in `tools`. Default false. */
  readonly bringAllowedTools?: boolean
  /** Runs the scripts of skills, each once a person has approved its text. Default: scripts do not run. */
  readonly runScript?: RunScript
  /** Whether an open skill says where its folder is, for models that have file tools of their host. Default false. */
  readonly showFolder?: boolean
  /**
   * The most characters of the list of folded skills. Beyond that, descriptions are shortened, skills of one folder become
   * one section, and the rest is found by a query. Default 8,000, or 2 % of a window: `0.02 * 4 * tokens`.
   */
  readonly budget?: number
}

/** The list of skills has at most this many characters. */
const DEFAULT_BUDGET = 8_000

/**
 * Creates a section for each skill. Folded skills share a list of names and descriptions. Opening one shows its text,
 * adds the tools that it names, and makes its files readable by their paths.
 *
 * @example
 * ```ts
 * const skills = await skillSections(createHostFilesystem('skills'), { tools: [refund] })
 * const prompt = definePrompt({ ns: 'agents', key: 'support', sections: [role, ...skills] })
 * ```
 */
export async function skillSections(
  source: SkillSource | readonly Skill[],
  options: SkillSectionsOptions = {},
): Promise<readonly Section<{}, string>[]> {
  const { budget = DEFAULT_BUDGET } = options
  checkNumber('budget', budget, { code: 'skill-invalid', least: 1 })
  const skills = await getSkills(source, options)
  const parts = createParts(skills, options)
  const groups = groupSkills(skills, budget)
  return groups.flatMap(({ name, skills: own }) => {
    const sections = own.map((skill) => skillSection(skill, parts))
    return name === '' ? sections : [groupSection(name, own, sections, budget)]
  })
}

async function getSkills(
  source: SkillSource | readonly Skill[],
  options: SkillSectionsOptions,
): Promise<readonly Skill[]> {
  if (Array.isArray(source) && source.every((each) => 'digest' in each))
    return keepFirst(source as readonly Skill[], options)
  return readSkills(source as SkillSource, options)
}

/** Skills of several servers may have one name. */
function keepFirst(skills: readonly Skill[], { onWarning }: SkillSectionsOptions): readonly Skill[] {
  const known = new Map<string, Skill>()
  for (const skill of skills) {
    if (known.has(skill.key))
      onWarning?.(`The skill '${skill.key}' of ${skill.category} is not used, because another one comes first.`)
    else known.set(skill.key, skill)
  }
  return [...known.values()]
}

interface SkillParts {
  readonly find: FindTool
  readonly scripts: AnyTool | undefined
  readonly options: SkillSectionsOptions
  readonly budget: number
}

function createParts(skills: readonly Skill[], options: SkillSectionsOptions): SkillParts {
  const { tools = [], runScript, bringAllowedTools = false, budget = DEFAULT_BUDGET } = options
  const find = createFinder(tools)
  const brought = new Set(skills.flatMap((skill) => bringTools(skill, find, bringAllowedTools).tools))
  const informed = informApprovals([...brought], skills)
  const scripted = skills.filter((skill) => listScripts(skill).length > 0)
  return {
    find(name) {
      const tool = find(name)
      return tool && (informed.get(tool) ?? tool)
    },
    scripts: runScript && createScriptTool(scripted, runScript),
    options,
    budget,
  }
}

function skillSection(skill: Skill, { find, scripts, options, budget }: SkillParts): Section<{}, string> {
  const { key, name, description, isForModels, isForUsers, load } = skill
  const { showFolder = false, bringAllowedTools = false, trust } = options
  const { tools, missing } = bringTools(skill, find, bringAllowedTools)
  const notes = { showFolder, missingTools: missing }
  const own = [...tools]
  if (scripts && listScripts(skill).length > 0) own.push(scripts)
  const isUsed: SelectSkill = (_, { session }) => isForUsers && getSkillUse(session, key).arguments !== undefined
  return defineSection({
    key,
    title: name,
    // Literal text: a skill may mention ${placeholders} that do not belong to the prompt.
    render: (_params, { session }) => formatSkill(skill, notes, session),
    summary: escapeTemplate(description),
    visibility: (params, context) => (isUsed(params, context) ? 'full' : 'summary'),
    enabled: isForModels || isUsed,
    listed: budget,
    tools: own,
    ...((skill.files.length > 0 || skill.findFile) && {
      files: { read: (path: string) => readSkillFile(skill, path, trust) },
    }),
    ...(load && {
      load: async ({ session, signal }) => keepSkillText(session, key, (await load(signal)).body),
    }),
  })
}

type SelectSkill = (params: unknown, context: { readonly session: Parameters<typeof getSkillUse>[0] }) => boolean

interface Group {
  /** The folder of its skills; empty for those beside all folders. */
  readonly name: string
  readonly skills: readonly Skill[]
}

/** Skills become subsections of their folders if their list would leave too little of each description. */
function groupSkills(skills: readonly Skill[], budget: number): readonly Group[] {
  const all: readonly Group[] = [{ name: '', skills }]
  const shortest = skills.reduce(
    (sum, { key, description }) => sum + key.length + 6 + Math.min(description.length, MIN_SKILL_DESCRIPTION),
    0,
  )
  if (shortest <= budget) return all
  const groups = new Map<string, Skill[]>()
  for (const skill of skills) {
    const name = toKey(skill.category)
    groups.set(name, [...(groups.get(name) ?? []), skill])
  }
  if (groups.size === 1) return all
  // A folder of one skill would only hide what it is about.
  const alone = [...groups].filter(([name, own]) => name === '' || own.length === 1).flatMap(([, own]) => own)
  const taken = new Set(alone.map(({ key }) => key))
  const shared = [...groups].filter(([name, own]) => name !== '' && own.length > 1)
  return [
    ...shared.map(([name, own]) => ({ name: (taken.has(name) && `${name}-skills`.slice(-64)) || name, skills: own })),
    { name: '', skills: alone },
  ]
}

function groupSection(
  name: string,
  skills: readonly Skill[],
  children: readonly Section<{}, string>[],
  budget: number,
): Section<{}, string> {
  const names = skills.filter(({ isForModels }) => isForModels).map(({ key }) => key)
  return defineSection({
    key: name,
    title: name,
    template: `${formatCount(names.length, 'skill')}.`,
    summary: escapeTemplate(`${formatCount(names.length, 'skill')}: ${names.join(', ')}`),
    visibility: 'summary',
    listed: budget,
    children,
  })
}
