import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PAUSE_MS = 200
/** An installation that takes longer than this was interrupted, and left its lock behind. */
const LONGEST_MS = 600_000

export interface InstallOptions {
  /** Whether the packages may run install scripts. Most do not need to. */
  readonly withScripts?: boolean
  /** Called before something is installed, which may take minutes. */
  readonly onInstall?: () => void
}

/**
 * Installs the packages of a folder with its own lock file, unless they are already installed: packages that only some tests or
 * benchmarks need. Test files run in several processes, so the first one installs and the others wait.
 */
export function installPackages(folder: string, { withScripts = false, onInstall }: InstallOptions = {}): void {
  const stamp = join(folder, 'node_modules', '.installed')
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  const isInstalled = (): boolean => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
  if (isInstalled()) return
  const release = takeLock(join(folder, '.installing'))
  try {
    if (isInstalled()) return
    onInstall?.()
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    const options = withScripts ? quiet : ['--ignore-scripts', ...quiet]
    const { status, stderr } = spawnSync('npm', ['install', ...options], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`npm install failed in ${folder}: ${stderr}`)
    writeFileSync(stamp, wanted)
  } finally {
    release()
  }
}

/** Waits without returning to the event loop, because tests install before they are collected. */
function takeLock(lock: string): () => void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    try {
      mkdirSync(lock)
      return () => rmSync(lock, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - since > LONGEST_MS) rmSync(lock, { recursive: true, force: true })
    Atomics.wait(pause, 0, 0, PAUSE_MS)
  }
}
