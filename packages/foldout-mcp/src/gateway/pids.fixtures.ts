import { existsSync, readFileSync } from 'node:fs'

/** Reads the ids of the processes that a fixture server has started. */
export function readPids(file: string): readonly number[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').map(Number) : []
}

/** Whether a process is there and has not ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie process counts as ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
