import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MAX_LISTING_BYTES = 67_108_864

/** A process and its start time, because the id alone may be reused by another process. */
export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  readonly started: string
}

/**
 * Lists a process and all that it has started. A server is often started through `npx` or a shell and may start browsers, and
 * ending only one of them would leave the others running.
 */
export async function listTree(...roots: readonly number[]): Promise<readonly RunningProcess[]> {
  const all = await listProcesses()
  const found = new Set(roots)
  for (const parent of found) {
    for (const child of all) if (child.parent === parent) found.add(child.pid)
  }
  return all.filter(({ pid }) => found.has(pid))
}

/**
 * Kills the processes with a variable in their environment, and all that they have started. A daemon has left the tree and the group
 * of the server that started it, but most keep its environment.
 */
export async function killMarked(marker: Readonly<Record<string, string>>): Promise<void> {
  const [mark] = Object.entries(marker).map(([name, value]) => `${name}=${value}`)
  const marked = mark === undefined ? [] : await listMarked(mark)
  if (marked.length > 0) await killRemaining(await listTree(...marked))
}

async function listMarked(mark: string): Promise<readonly number[]> {
  if (process.platform === 'linux') {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const found = await Promise.all(
      pids.map(async (pid) => {
        // The processes of other users cannot be read.
        const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
        if (environment.split('\0').includes(mark)) return [Number(pid)]
        return []
      }),
    )
    return found.flat()
  }
  const { stdout } = await run('ps', ['-A', '-E', '-ww', '-o', 'pid=,command='], { maxBuffer: MAX_LISTING_BYTES })
  return stdout
    .split('\n')
    .filter((line) => line.includes(` ${mark}`))
    .map((line) => Number.parseInt(line, 10))
}

/** Kills the processes that are still running. */
export async function killRemaining(processes: readonly RunningProcess[]): Promise<void> {
  if (processes.length === 0) return
  const running = new Map((await listProcesses()).map(({ pid, started }) => [pid, started]))
  for (const { pid, started } of processes) if (running.get(pid) === started) kill(pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** On Windows, processes cannot be listed this way. */
async function listProcesses(): Promise<readonly RunningProcess[]> {
  if (process.platform === 'win32') return []
  const listing = run('ps', ['-A', '-o', 'pid=,ppid=,lstart='])
  const { stdout } = await listing
  return parseProcesses(stdout).filter(({ pid }) => pid !== listing.child.pid)
}

export function parseProcesses(text: string): readonly RunningProcess[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, ...started] = line.trim().split(/\s+/)
    if (started.length === 0) return []
    return [{ pid: Number(pid), parent: Number(parent), started: started.join(' ') }]
  })
}
