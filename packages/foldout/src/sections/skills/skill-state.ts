import { KEY_PATTERN } from '../../core/text.ts'
import type { Session, SessionReader } from '../../session/session.ts'
import { includeInSessions } from '../../session/session.ts'
import { defineSlice } from '../../session/slice.ts'

/** What a session knows about a skill. */
interface SkillUse {
  /** What the user wrote behind the name; undefined if no user has opened the skill. */
  readonly arguments?: string
  /** The text, if it was not there when the prompt was defined. */
  readonly body?: string
}

const NO_USES: Readonly<Record<string, SkillUse>> = {}

const checkName = (payload: unknown): string | undefined => {
  const { name, ...others } = payload as { readonly name?: unknown }
  if (typeof name !== 'string' || !KEY_PATTERN.test(name)) return 'its name is not the key of a skill'
  if (Object.values(others).some((value) => typeof value !== 'string')) return 'a field of it is not a string'
  return undefined
}

/** The skills that users have opened, and the texts of those that come from servers. */
const skillUses = defineSlice({
  name: 'skills',
  initial: NO_USES,
  reducers: {
    used: (state, payload: { readonly name: string; readonly arguments: string }) => ({
      ...state,
      [payload.name]: { ...state[payload.name], arguments: payload.arguments },
    }),
    loaded: (state, payload: { readonly name: string; readonly body: string }) => ({
      ...state,
      [payload.name]: { ...state[payload.name], body: payload.body },
    }),
  },
  checks: { used: checkName, loaded: checkName },
})
includeInSessions(skillUses)

/** Returns what a session knows about a skill. */
export function getSkillUse(session: SessionReader, key: string): SkillUse {
  return session.get(skillUses)[key] ?? {}
}

/** Stores the text of a skill in the session, so that it stays the same while the conversation lasts. */
export function keepSkillText(session: Session, key: string, body: string): void {
  if (getSkillUse(session, key).body !== body) session.dispatch(skillUses.events.loaded({ name: key, body }))
}

/**
 * Opens a skill for a user, who has written `/name` and perhaps more: also one that models cannot open. What stands behind
 * the name replaces `$ARGUMENTS` in its text. The name is the key of a section that `skillSections` has made; other names,
 * and skills that are not for users, change nothing.
 *
 * @example
 * ```ts
 * const session = createSession()
 * openSkill(session, 'invoices', 'for Ada')
 * ```
 */
export function openSkill(session: Session, name: string, written = ''): void {
  session.dispatch(skillUses.events.used({ name, arguments: written }))
}

const ARGUMENTS = /\$ARGUMENTS(?:\[(\d{1,3})\])?/g

/** Puts what a user wrote into the text of a skill. Without a place for it, it is put at the end. */
export function fillArguments(body: string, written: string | undefined): string {
  const given = written?.trim() ?? ''
  const words = given.split(/\s+/)
  let hasPlace = false
  const filled = body.replaceAll(ARGUMENTS, (_, number: string | undefined) => {
    hasPlace = true
    if (number === undefined) return given
    return words[Number(number)] ?? ''
  })
  if (hasPlace || given === '') return filled
  return `${filled}\n\nArguments: ${given}`
}
