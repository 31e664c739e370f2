import { basename } from 'node:path'
import { getInheritedVariables, joinEnvironments } from '../../../system/environment.ts'
import { startProgram, stripShell } from '../../../system/programs.ts'
import { killTree } from '../../../system/tree.ts'
import type { FilledStdioServer } from '../../config/fill-server.ts'
import { dropUndefined } from 'foldout-shared/values'
import { INSTALL_MS } from './limits.ts'
import type { ProcessGuard } from './process-guard.ts'

interface CommandLine {
  readonly command: string
  readonly args: readonly string[]
}

/**
 * Installs the package behind a server that is run by `npx` or `uvx`, without running it. A download may take longer than a
 * server may take to start. Never rejects: if it fails, the start says what is wrong.
 */
export async function installAhead(
  server: FilledStdioServer,
  { guard, signal }: { readonly guard: ProcessGuard; readonly signal: AbortSignal },
): Promise<void> {
  const line = toInstallCommand(server)
  if (!line || signal.aborted) return
  const { env, cwd } = server
  const hasGroups = process.platform !== 'win32'
  guard.start()
  const child = startProgram(line.command, line.args, {
    env: joinEnvironments([getInheritedVariables(), env, guard.createMarker()]),
    stdio: 'ignore',
    windowsHide: true,
    detached: hasGroups,
    ...dropUndefined({ cwd }),
  })
  const { pid } = child
  if (pid !== undefined) guard.add(pid)
  const end = (): void => {
    try {
      if (!hasGroups) void killTree(child)
      else if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
  const timer = setTimeout(end, INSTALL_MS)
  signal.addEventListener('abort', end, { once: true })
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
  if (pid !== undefined) guard.drop(pid)
}

/** The command that installs the package a command line runs; undefined for other commands. */
export function toInstallCommand(line: CommandLine): CommandLine | undefined {
  const words = [line.command, ...line.args]
  const [program = '', ...args] = stripShell(words)
  const runner = RUNNERS.get(basename(program).replace(/\.(?:cmd|exe)$/i, ''))
  const at = runner === undefined ? 0 : findPositional(args, runner.takesValue)
  const options = args.slice(0, at)
  const spec = args[at]
  if (!runner || options.some((option) => runner.isProgram.test(option))) return undefined
  const isNamed = options.some((option) => runner.isPackage.test(option))
  if (!isNamed && spec === undefined) return undefined
  const shell = words.slice(1, words.length - args.length)
  const named = isNamed || spec === undefined ? [] : [runner.package, spec]
  return { command: line.command, args: [...shell, ...options, ...named, ...runner.run] }
}

interface Runner {
  /** Options whose value is the next argument. */
  readonly takesValue: RegExp
  /** The options that name a package. */
  readonly isPackage: RegExp
  /** The form of that option to write. */
  readonly package: string
  /** An option whose value is a program, which must not run in advance. */
  readonly isProgram: RegExp
  /** Runs something that does nothing. */
  readonly run: readonly string[]
}

const RUNNERS: ReadonlyMap<string, Runner> = new Map([
  [
    'npx',
    {
      takesValue: /^(?:-p|--package|-c|--call|-w|--workspace|--registry|--prefix|--cache|--userconfig)$/,
      isPackage: /^(?:-p|--package)(?:=|$)/,
      package: '--package',
      isProgram: /^(?:-c|--call)(?:=|$)/,
      run: ['--yes', '--call', 'node --version'],
    },
  ],
  [
    'uvx',
    {
      takesValue:
        /^(?:--from|--with|--python|-p|--index|--index-url|-i|--default-index|--extra-index-url|--directory)$/,
      isPackage: /^--from(?:=|$)/,
      package: '--from',
      isProgram: /^(?!)/,
      run: ['python', '--version'],
    },
  ],
])

/** The index of the first argument that is neither an option nor an option's value. */
function findPositional(args: readonly string[], takesValue: RegExp): number {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--' || !arg.startsWith('-')) {
      if (arg === '--') return at + 1
      return at
    }
    if (takesValue.test(arg)) at++
  }
  return args.length
}
