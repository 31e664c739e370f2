/**
 * A folder of `SKILL.md` files as sections.
 *
 * @module foldout/skills
 */

export { readSkill, type Skill } from '../sections/skill.ts'
export { skillSections, type SkillSectionsOptions } from '../sections/skill-sections.ts'
