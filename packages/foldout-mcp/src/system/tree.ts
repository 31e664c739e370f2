import { execFile, type ChildProcess } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { ignore } from 'foldout/promises'
import { getSystemFolder } from './programs.ts'

type Run = (file: string, args: readonly string[]) => Promise<unknown>

const execute = promisify(execFile)
const runHidden: Run = (file, args) => execute(file, args, { windowsHide: true })

/**
 * Kills a process, and on Windows all that it has started. `npx` is a script there, and killing only its shell would leave the server
 * running. Nothing gentler works: programs without a window get no signals.
 */
export async function killTree(
  child: ChildProcess,
  { platform = process.platform, run = runHidden }: { readonly platform?: NodeJS.Platform; readonly run?: Run } = {},
): Promise<void> {
  // The id of a process that has ended may belong to another one.
  if (child.pid === undefined || hasEnded(child)) return
  if (platform === 'win32') {
    const program = path.win32.join(getSystemFolder(process.env), 'taskkill.exe')
    await ignore(run(program, ['/pid', String(child.pid), '/t', '/f']), 'it may have ended by itself')
  }
  // Also if that program is missing or failed.
  if (!hasEnded(child)) child.kill('SIGKILL')
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
