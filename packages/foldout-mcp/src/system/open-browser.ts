import { startProgram } from './programs.ts'
import type { Environment } from './environment.ts'

/** Opens a page in the user's browser. Without a browser, nothing happens: the user has the URL. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [command, ...args] = getBrowserCommand(env, process.platform)
  const child = startProgram(command, [...args, url], { stdio: 'ignore', detached: true, env })
  child.on('error', () => undefined)
  child.unref()
}

/** The command that opens the URL after it. */
export function getBrowserCommand(
  { BROWSER: browser }: Environment,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] {
  if (browser) return [browser]
  if (platform === 'darwin') return ['open']
  // Passes the URL through unchanged, unlike `start`, to which `&` is special.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}
