/**
 * A folder of `SKILL.md` files as sections.
 *
 * @module foldout/skills
 */

export { readSkill } from '../sections/skills/read-skill.ts'
export { computeSkillDigest, readSkills, type ReadSkillsOptions } from '../sections/skills/read-skills.ts'
export type { Skill, SkillFile, SkillRoot, SkillScope, SkillSource, SkillText } from '../sections/skills/skill.ts'
export { skillSections, type SkillSectionsOptions } from '../sections/skill-sections.ts'
