import { existsSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where the servers' tools are kept between starts. */
export function getCacheFolder(env: NodeJS.ProcessEnv): string {
  const { XDG_CACHE_HOME: cache, LOCALAPPDATA: local } = env
  const home = env['HOME'] || getSystemHome()
  if (cache && isAbsolute(cache)) return join(cache, 'foldout')
  if (process.platform === 'win32' && local) return join(local, 'foldout', 'cache')
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'foldout')
  return join(home, '.cache', 'foldout')
}

/** Where sign-ins are kept, and the user's decisions about servers: which definitions and calls are approved. */
export function getDataFolder(env: NodeJS.ProcessEnv): string {
  const { XDG_DATA_HOME: data, LOCALAPPDATA: local } = env
  const home = env['HOME'] || getSystemHome()
  if (data && isAbsolute(data)) return join(data, 'foldout')
  if (process.platform === 'win32' && local) return join(local, 'foldout', 'data')
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'foldout')
  return join(home, '.local', 'share', 'foldout')
}

/** The user's folder, also where HOME is empty: secrets must not end up in the current folder. */
export function getSystemHome(): string {
  return homedir() || userInfo().homedir
}

/** The version of this package, which is found from its sources as well as from what is built of them. */
export function readVersion(): string {
  for (let folder = new URL('..', import.meta.url); ; folder = new URL('..', folder)) {
    const file = new URL('package.json', folder)
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  }
}

/** Whether a process exists. It may belong to another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
