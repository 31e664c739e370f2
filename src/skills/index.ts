export { readSkill, type Skill } from './skill.ts'
export { skillSections, type SkillSectionsOptions } from './skill-sections.ts'
