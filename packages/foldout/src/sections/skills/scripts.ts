import { sha256Hex } from '../../core/hash.ts'
import { decodeText, cutWithCount, nameSome, shorten } from '../../core/text.ts'
import { fail, ok } from '../../tools/result.ts'
import { defineTool, type AnyTool } from '../../tools/tool.ts'
import { MAX_SCRIPT_OUTPUT } from './limits.ts'
import type { Skill } from './skill.ts'
import { findSkillFile } from './skill-text.ts'

/**
 * A script of a skill that is about to run.
 *
 * @example
 * ```ts
 * const describe = ({ skill, path, digest }: SkillScript): string => `${skill}/${path} (${digest})`
 * ```
 */
export interface SkillScript {
  /** The key of the skill. */
  readonly skill: string
  /** The path relative to the skill's folder, such as `scripts/fill.py`. */
  readonly path: string
  /** What it says now: run this, and not the file, which may have changed since it was approved. */
  readonly text: string
  /** The digest of `text`: `sha256:` and 64 hexadecimal digits. */
  readonly digest: string
  readonly arguments: readonly string[]
  readonly signal: AbortSignal
  /** The absolute path of the skill's folder on the host, if known. */
  readonly folder: string | undefined
}

/**
 * Runs scripts of skills. Foldout runs none itself: where and how they run is up to you.
 *
 * @example
 * ```ts
 * const runScript: RunScript = {
 *   isApproved: ({ digest }) => approvedDigests.has(digest),
 *   run: async ({ path, arguments: args }) => `${path} ran with ${args.join(' ')}.`,
 * }
 * ```
 */
export interface RunScript {
  /** Returns what the script has written. What it throws is the model's answer. */
  run(script: SkillScript): Promise<string>
  /**
   * Whether somebody has approved this text before. For any other text, a person is asked before each call. The answer
   * counts for the text that the person was asked about, also after a restart.
   */
  isApproved?(script: Omit<SkillScript, 'signal'>): boolean | Promise<boolean>
}

interface ScriptCall {
  readonly skill: string
  readonly script: string
  readonly arguments?: readonly string[]
}

/** The scripts that a skill has; empty if none. */
export function listScripts({ files }: Skill): readonly string[] {
  return files.map(({ path }) => path).filter((path) => path.startsWith('scripts/'))
}

/** Creates the tool that runs the scripts of skills. */
export function createScriptTool(skills: readonly Skill[], { run, isApproved }: RunScript): AnyTool {
  async function find(call: ScriptCall): Promise<Omit<SkillScript, 'signal'> | undefined> {
    const skill = skills.find(({ key }) => key === call.skill)
    const path = call.script.replace(new RegExp(`^(?:\\./)?(?:${skill?.key ?? ''}/)?`), '')
    if (!skill || !listScripts(skill).includes(path)) return undefined
    const text = decodeText((await (await findSkillFile(skill, path))?.read()) ?? new Uint8Array([0]))
    if (text === undefined) return undefined
    const { key, folder } = skill
    return { skill: key, path, text, digest: `sha256:${sha256Hex(text)}`, arguments: call.arguments ?? [], folder }
  }
  return defineTool({
    name: 'run_skill_script',
    description: 'Run a script of a skill that you have read.',
    params: {
      type: 'object',
      properties: {
        skill: { type: 'string', description: 'The key of the skill' },
        script: { type: 'string', description: "The path in the skill, such as 'scripts/fill.py'" },
        arguments: { type: 'array', items: { type: 'string' }, description: 'The arguments of the command line' },
      },
      required: ['skill', 'script'],
    },
    exclusive: true,
    annotations: { destructiveHint: true },
    async needsApproval(given) {
      const script = await find(given as unknown as ScriptCall)
      if (!script || (await isApproved?.(script))) return false
      return describeRun(script)
    },
    async execute(given, { signal, approvedReason }) {
      const call = given as unknown as ScriptCall
      const script = await find(call)
      if (!script) return fail(describeMissing(skills, call))
      // The person who approved may have seen another text: the file may change, also while the process is started again.
      if (approvedReason !== describeRun(script) && !(await isApproved?.(script)))
        return fail(`The script ${script.path} is not what was approved. Call it again.`)
      return ok(cutWithCount(await run({ ...script, signal }), MAX_SCRIPT_OUTPUT) || 'The script wrote nothing.')
    },
  })
}

/** What a person approves: the text of the script, by its digest. */
function describeRun({ skill, path, digest }: Pick<SkillScript, 'skill' | 'path' | 'digest'>): string {
  return `It runs ${shorten(path, 200)} of the skill '${skill}', ${digest}.`
}

function describeMissing(skills: readonly Skill[], { skill: name, script }: ScriptCall): string {
  const skill = skills.find(({ key }) => key === name)
  if (!skill) return `There is no skill '${shorten(name)}' with scripts.`
  return `The skill '${skill.key}' has no script '${shorten(script)}'. It has: ${nameSome(listScripts(skill), 10)}.`
}
