import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import path from 'node:path'
import spawnOther from 'cross-spawn'
import { getVariable, type Environment } from './environment.ts'

export interface ProgramPlace {
  readonly env: Environment
  readonly platform: NodeJS.Platform
  /** The folder that relative paths start from. */
  readonly folder: string
  /** Whether a file can be run. Tests pass their own. */
  readonly isProgram?: (file: string) => boolean
}

/**
 * Finds the file that a command runs: one in the folders of PATH, or the one that it is the path of. Unlike Windows itself, this does not
 * look in the current folder, which may be a project of someone else.
 */
export function findProgram(command: string, place: ProgramPlace): string | undefined {
  const { env, platform, folder, isProgram = canRun } = place
  const paths = platform === 'win32' ? path.win32 : path.posix
  const folders = isPath(command, platform)
    ? [folder]
    : listFolders(getVariable(env, 'PATH', platform) ?? '', paths.delimiter)
  const endings = platform === 'win32' ? listEndings(command, getVariable(env, 'PATHEXT', platform)) : ['']
  return folders
    .flatMap((start) => endings.map((ending) => paths.resolve(start, `${command}${ending}`)))
    .find((file) => isProgram(file))
}

function isPath(command: string, platform: NodeJS.Platform): boolean {
  return command.includes('/') || (platform === 'win32' && /[\\:]/.test(command))
}

/** On Windows, a folder may be in quotes. */
function listFolders(text: string, delimiter: string): readonly string[] {
  return text
    .split(delimiter)
    .map((folder) => folder.replaceAll('"', ''))
    .filter((folder) => folder !== '')
}

const STARTED_ENDINGS = ['.com', '.exe', '.bat', '.cmd']

/** The endings to try, in the user's order. Windows opens files with other endings in an editor or a browser. */
function listEndings(command: string, setting = ''): readonly string[] {
  const chosen = setting
    .toLowerCase()
    .split(';')
    .filter((ending) => STARTED_ENDINGS.includes(ending))
  const endings = chosen.length === 0 ? STARTED_ENDINGS : chosen
  if (STARTED_ENDINGS.includes(path.win32.extname(command).toLowerCase())) return ['', ...endings]
  return endings
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Starts a program. On Windows, scripts such as `npx.cmd` are started too, and get their arguments unchanged. */
export function startProgram(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const { platform } = process
  const folder = options.cwd === undefined ? process.cwd() : String(options.cwd)
  const line = toCommandLine(command, args, { env: options.env ?? process.env, platform, folder })
  const given = { ...options, windowsVerbatimArguments: line.isVerbatim }
  if (line.isOther) return spawnOther(line.command, line.args, given)
  return spawn(line.command, line.args, given)
}

const SCRIPT = /\.(?:bat|cmd)$/i

interface CommandLine {
  readonly command: string
  readonly args: readonly string[]
  /** Whether the arguments are already quoted. */
  readonly isVerbatim: boolean
  /** Whether Windows does not start it, but finds a way: for example, the first line of a JavaScript file names Node.js. */
  readonly isOther: boolean
}

/** What to start for a command. */
export function toCommandLine(command: string, args: readonly string[], place: ProgramPlace): CommandLine {
  const plain = { command, args, isVerbatim: false, isOther: false }
  if (place.platform !== 'win32') return plain
  const { isProgram = canRun, folder } = place
  const file = findProgram(command, place)
  const isScript = SCRIPT.test(file ?? command)
  if (file === undefined) {
    const isFile = isPath(command, 'win32') && isProgram(path.win32.resolve(folder, command))
    // A missing program fails in the same way as on other systems. Node.js refuses scripts, also missing ones.
    return { ...plain, isOther: isFile || isScript }
  }
  if (!isScript) return { ...plain, command: file }
  const shell = path.win32.join(getSystemFolder(place.env), 'cmd.exe')
  return { command: shell, args: toShellArguments(file, args), isVerbatim: true, isOther: false }
}

/** Strips `cmd /c`, which only starts a program on Windows. */
export function stripShell(words: readonly string[]): readonly string[] {
  if (!/^(?:.*[\\/])?cmd(?:\.exe)?$/i.test(words[0] ?? '')) return words
  const at = words.findIndex((word) => /^\/c$/i.test(word))
  if (at !== -1 && words.slice(1, at).every((word) => word.startsWith('/'))) return words.slice(at + 1)
  return words
}

/** The folder of the programs of Windows. A program of the same name elsewhere must not run instead. */
export function getSystemFolder(env: Environment): string {
  return path.win32.join(getVariable(env, 'SystemRoot', 'win32') || 'C:\\Windows', 'System32')
}

/** What the shell of Windows treats specially outside quotes. */
const SPECIAL = /[()\][%!^"`<>&|;, *?]/g

/**
 * The arguments of `cmd.exe` that run a script. Almost all scripts pass their arguments on as `%*`, and the shell reads them again there. A
 * quote is therefore doubled, which leaves everything between the outer quotes quoted at the second reading, and which programs
 * understand. With `\"`, half of an argument would be outside quotes, where `&` begins another command.
 */
export function toShellArguments(file: string, args: readonly string[]): string[] {
  const words = args.map((arg) => quote(arg).replaceAll(SPECIAL, '^$&'))
  // Without the user's start-up commands, with extensions, and with `!` as a character like any other.
  return ['/d', '/e:on', '/v:off', '/s', '/c', `"${[`"${file}"`, ...words].join(' ')}"`]
}

function quote(arg: string): string {
  if (/[\r\n\0]/.test(arg))
    throw new Error('An argument has a line break, which cannot be passed to a script of Windows. Put it in a file.')
  // Backslashes are doubled only in front of a quote.
  return `"${arg.replaceAll(/(\\*)"/g, '$1$1""').replace(/\\+$/, '$&$&')}"`
}
