import { serveSkills, type ServedSkills } from 'foldout/mcp'
import type { Skill, TrustSkill } from 'foldout/skills'
import { findStats } from '../../shared/files.ts'

/**
 * Reads the skills of a configuration. What is wrong with one does not affect the others.
 *
 * @param trust Whether a skill of a folder may be served. Without it, all may, because who writes the configuration decides.
 */
export async function readOwnSkills(
  given: readonly (string | Skill)[],
  trust: TrustSkill | undefined,
  complain: (message: string) => void,
): Promise<ServedSkills | undefined> {
  if (given.length === 0) return undefined
  const skills = new Map<string, Skill>()
  for (const entry of given) {
    const found = typeof entry === 'string' ? await readFolder(entry, trust, complain) : [entry]
    for (const skill of found) {
      if (!skills.has(skill.key)) skills.set(skill.key, skill)
      else complain(`The skill '${skill.key}' in ${describePlace(skill)} is not served: an earlier one has its name.`)
    }
  }
  const served = serveSkills([...skills.values()])
  for (const skill of served.refused)
    complain(
      `The skill '${skill.key}' in ${describePlace(skill)} is not served: its front matter needs a name of lowercase letters, digits and hyphens, and clients accept fewer than 512 files.`,
    )
  return served
}

function describePlace({ folder, path }: Skill): string {
  return folder ?? path
}

/** What reads skills is loaded only if there are some. */
async function readFolder(
  folder: string,
  trust: TrustSkill | undefined,
  complain: (message: string) => void,
): Promise<readonly Skill[]> {
  const [{ createHostFilesystem }, { readSkills }] = await Promise.all([
    import('foldout/node'),
    import('foldout/skills'),
  ])
  if (!findStats(folder)?.isDirectory()) {
    complain(`There is no folder ${folder}. Correct "skills" in the configuration.`)
    return []
  }
  try {
    const root = { files: createHostFilesystem(folder), hostFolder: folder, scope: trust ? 'project' : 'user' } as const
    return await readSkills([root], {
      onBroken: ({ message }) => complain(`${folder}: ${message}`),
      onWarning: (message) => complain(`${folder}: ${message}`),
      ...(trust && { trust }),
    })
  } catch (error) {
    complain(`The skills in ${folder} cannot be read: ${(error as Error).message}`)
    return []
  }
}
