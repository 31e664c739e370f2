/**
 * A folder of `SKILL.md` files as sections.
 *
 * @module foldout/skills
 */

export {
  markdownSections,
  type MarkdownFile,
  type MarkdownSectionsOptions,
} from '../sections/markdown/markdown-sections.ts'
export { checkSkillsLock, describeSkillChanges, type LockedSkill } from '../sections/skills/compare-skills.ts'
export { skillsFromWeb, type SkillsFromWebOptions } from '../sections/skills/skills-from-web.ts'
export { readSkill } from '../sections/skills/read-skill.ts'
export {
  computeSkillDigest,
  readSkills,
  type ReadSkillsOptions,
  type TrustQuestion,
  type TrustSkill,
} from '../sections/skills/read-skills.ts'
export type { RunScript, SkillScript } from '../sections/skills/scripts.ts'
export { openSkill } from '../sections/skills/skill-state.ts'
export type { SkillTools } from '../sections/skills/skill-tools.ts'
export type { Skill, SkillFile, SkillRoot, SkillScope, SkillSource, SkillText } from '../sections/skills/skill.ts'
export { skillSections, type SkillSectionsOptions } from '../sections/skills/skill-sections.ts'
