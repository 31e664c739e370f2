import { findProgram, startProgram } from '../../system/programs.ts'
import { killTree } from '../../system/tree.ts'
import type { ClientDescription, Scope } from '../client.ts'
import type { Launch } from '../entries.ts'
import { OWN_COMMAND_TIMEOUT_MS } from '../limits.ts'
import type { Whereabouts } from '../places.ts'

/** A command line of a client's own program. */
export interface OwnCommandLine {
  readonly program: string
  readonly args: readonly string[]
}

export interface EntryToAdd {
  readonly name: string
  readonly scope: Scope
  readonly entry: Readonly<Record<string, unknown>>
  readonly launch: Launch
}

/** The client's own command for adding a server; undefined if it has none or is not installed. */
export function findOwnCommand(
  { own }: ClientDescription,
  { name, scope, entry, launch }: EntryToAdd,
  where: Whereabouts,
): OwnCommandLine | undefined {
  // A name that looks like an option would be read as one.
  if (!own?.scopes.includes(scope) || name.startsWith('-')) return undefined
  const { env, platform, project } = where
  const program = findProgram(own.program, { env, platform, folder: project })
  if (program === undefined) return undefined
  const values: Readonly<Record<string, readonly string[]>> = {
    '{name}': [name],
    '{scope}': [scope],
    '{entry}': [JSON.stringify(entry)],
    '{named}': [JSON.stringify({ name, ...entry })],
    '{command}': [launch.command, ...launch.args],
  }
  return { program, args: own.add.flatMap((arg) => values[arg] ?? [arg]) }
}

/** Runs a client's own program. Returns its output if it failed. */
export function runOwnCommand({ program, args }: OwnCommandLine, where: Whereabouts): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = startProgram(program, args, { cwd: where.project, env: where.env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    const listen = (chunk: Buffer): void => {
      said = `${said}${chunk.toString('utf8')}`.slice(-500)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    const timer = setTimeout(() => {
      void killTree(child)
      // Not when its output closes: what it has started may keep that open.
      resolve(`it did not finish within ${OWN_COMMAND_TIMEOUT_MS / 1_000} seconds`)
    }, OWN_COMMAND_TIMEOUT_MS)
    const end = (failure: string | undefined): void => {
      clearTimeout(timer)
      resolve(failure)
    }
    child.on('error', (error) => end(error.message))
    child.on('close', (code) => end(code === 0 ? undefined : said.trim() || `it exited with ${code}`))
  })
}
