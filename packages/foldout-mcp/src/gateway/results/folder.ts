import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ignore } from 'foldout/promises'
import { isRunning } from '../../shared/surroundings.ts'
import { KEPT_MS } from './limits.ts'

/** The name says which process has the folder: its id, where that id counts, and when the process was started. */
const NAME = /^foldout-results-(\d+)-([0-9a-f]{8})-(\d+)-/

/** Creates a folder that only this user can read. */
export async function createResultFolder(): Promise<string> {
  const { pid } = process
  return mkdtemp(join(tmpdir(), `foldout-results-${pid}-${identifyPlace()}-${readStart(pid) ?? 0}-`))
}

/** Removes the folders of this user's gateways that were killed. */
export async function removeDeadFolders(): Promise<void> {
  const parent = tmpdir()
  for (const name of await readdir(parent).catch(() => [])) {
    const [, pid, place, start] = NAME.exec(name) ?? []
    if (pid === undefined || place === undefined || start === undefined) continue
    const folder = join(parent, name)
    const isHere = place === identifyPlace()
    const isAlive = isHere ? isSameProcess(Number(pid), start) : isRunning(Number(pid))
    if (isAlive || !(await isOwn(folder, isHere ? 0 : KEPT_MS))) continue
    await ignore(rm(folder, { recursive: true, force: true }), 'the next gateway tries again')
  }
}

/** Whether a folder is private to this user, and was not changed for some time. */
async function isOwn(folder: string, unchangedMs: number): Promise<boolean> {
  const found = await ignore(lstat(folder), 'another gateway has removed it')
  if (!found?.isDirectory() || Date.now() - found.mtimeMs < unchangedMs) return false
  const user = process.getuid?.()
  return user === undefined || (found.uid === user && (found.mode & 0o077) === 0)
}

/** Whether the process that was started at this time is still running. Ids are used again. */
function isSameProcess(pid: number, start: string): boolean {
  if (!isRunning(pid)) return false
  const now = readStart(pid)
  return now === undefined || start === '0' || now === start
}

/** When a process was started, in ticks since the system was; undefined if that is unknown. */
function readStart(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes first, in parentheses, and may have spaces in it.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

let knownPlace: string | undefined

/** Identifies the system, or container, whose processes this one sees. Several may share a temporary folder. */
function identifyPlace(): string {
  knownPlace ??= createHash('sha256')
    .update(JSON.stringify([hostname(), readBoot()]))
    .digest('hex')
    .slice(0, 8)
  return knownPlace
}

function readBoot(): readonly string[] {
  try {
    return [readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), readlinkSync('/proc/self/ns/pid')]
  } catch {
    return []
  }
}
