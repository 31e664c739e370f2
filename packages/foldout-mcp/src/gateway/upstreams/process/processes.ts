import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

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
export async function listTree(root: number): Promise<readonly RunningProcess[]> {
  const all = await listProcesses()
  const found = new Set([root])
  for (const parent of found) {
    for (const child of all) if (child.parent === parent) found.add(child.pid)
  }
  return all.filter(({ pid }) => found.has(pid))
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

/** On Windows processes cannot be listed this way; there, the SDK ends the processes that it started. */
async function listProcesses(): Promise<readonly RunningProcess[]> {
  if (process.platform === 'win32') return []
  const listing = run('ps', ['-A', '-o', 'pid=,ppid=,lstart='])
  const { stdout } = await listing
  return parseProcesses(stdout).filter(({ pid }) => pid !== listing.child.pid)
}

export function parseProcesses(text: string): readonly RunningProcess[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, ...started] = line.trim().split(/\s+/)
    return started.length === 0 ? [] : [{ pid: Number(pid), parent: Number(parent), started: started.join(' ') }]
  })
}
