import { existsSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isObject } from 'foldout-shared/values'
import { ignore } from '../../core/promises.ts'
import { createHostFilesystem } from '../../files/host-filesystem.ts'
import type { TrustSkill } from './read-skills.ts'
import type { SkillRoot, SkillScope } from './skill.ts'

/** Where agents look for skills, below a project or the home folder. */
const PLACES = ['.agents/skills', '.claude/skills']

/**
 * Finds the folders of skills for a working folder: `.agents/skills` and `.claude/skills` there and in every folder
 * around it, up to the root of the repository, and then in the home folder. Nearer ones have precedence. Outside of a
 * repository, only the working folder itself is searched. Skills of a project need `trust`.
 *
 * @example
 * ```ts
 * import { findSkillFolders } from 'foldout/node'
 *
 * const roots = findSkillFolders('.')
 * const skills = await skillSections(roots, { trust: ({ digest }) => approvedDigests.has(digest) })
 * ```
 */
export function findSkillFolders(
  folder: string,
  { home = homedir() }: { readonly home?: string } = {},
): readonly SkillRoot[] {
  const around: string[] = []
  let current = resolve(folder)
  const start = current
  for (;;) {
    // The skills at home belong to the user, wherever the project is.
    if (current !== resolve(home)) around.push(current)
    if (existsSync(join(current, '.git'))) break
    const parent = dirname(current)
    if (parent === current) {
      around.splice(0, around.length, start)
      break
    }
    current = parent
  }
  const seen = new Set<string>()
  return [...around.flatMap((each) => listRoots(each, 'project')), ...listRoots(resolve(home), 'user')].filter(
    ({ hostFolder = '' }) => !seen.has(hostFolder) && seen.add(hostFolder),
  )
}

function listRoots(folder: string, scope: SkillScope): readonly SkillRoot[] {
  return PLACES.map((place) => join(folder, place))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    .map((path) => ({ files: createHostFilesystem(path), hostFolder: path.replaceAll('\\', '/'), scope }))
}

/**
 * Remembers in a file which skills the user trusts, by their digests, so that each is asked about once.
 *
 * @example
 * ```ts
 * import { createSkillTrust } from 'foldout/node'
 *
 * const trust = createSkillTrust('trusted-skills.json', async ({ name }) => name === 'refunds')
 * const skills = await skillSections(createHostFilesystem('skills'), { trust })
 * ```
 */
export function createSkillTrust(file: string, ask: TrustSkill): TrustSkill {
  const asked = new Map<string, Promise<boolean>>()
  let writing: Promise<unknown> = Promise.resolve()
  async function remember(digest: string, name: string): Promise<void> {
    const trusted = { ...(await readTrusted(file)), [digest]: name }
    await mkdir(dirname(resolve(file)), { recursive: true })
    const temporary = `${file}.${process.pid}.tmp`
    await writeFile(temporary, `${JSON.stringify({ trusted }, undefined, 2)}\n`, { mode: 0o600 })
    await rename(temporary, file)
  }
  async function decide(question: Parameters<TrustSkill>[0]): Promise<boolean> {
    if (Object.hasOwn(await readTrusted(file), question.digest)) return true
    if (!(await ask(question))) return false
    const written = writing.then(() => remember(question.digest, question.name))
    writing = ignore(written, 'the answer below fails as well')
    await written
    return true
  }
  return (question) => {
    const answer = asked.get(question.digest) ?? decide(question)
    asked.set(question.digest, answer)
    return answer
  }
}

/** The trusted digests; none if the file is missing or something else. */
async function readTrusted(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const content: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (isObject(content) && isObject(content['trusted'])) return content['trusted']
  } catch {
    // The user is asked again.
  }
  return {}
}
