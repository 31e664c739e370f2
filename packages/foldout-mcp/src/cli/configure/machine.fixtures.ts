import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { runCommand } from '../main.ts'

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A machine of its own for each test: a folder with a home folder, a project and a configuration. */
export interface Machine {
  readonly folder: string
  readonly config: string
  run(...args: readonly string[]): Promise<Outcome>
  write(path: string, content: unknown): Promise<string>
  readConfig(): Promise<unknown>
}

export function createMachine(): Machine {
  let folder = ''
  const getConfig = (): string => join(folder, 'foldout.config.json')
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'foldout-configure-')))
    await mkdir(join(folder, 'project'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return {
    get folder() {
      return folder
    },
    get config() {
      return getConfig()
    },
    async run(...args) {
      const written = { stdout: '', stderr: '' }
      const code = await runCommand(['node', 'foldout', ...args], createSurroundings(folder, written))
      return { code, ...written }
    },
    async write(path, content) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
      return file
    },
    readConfig: async () => JSON.parse(await readFile(getConfig(), 'utf8')) as unknown,
  }
}

export function createSurroundings(
  folder: string,
  written: { stdout: string; stderr: string },
): Parameters<typeof runCommand>[1] {
  return {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    env: {
      HOME: join(folder, 'home'),
      PATH: '',
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_DATA_HOME: join(folder, 'data'),
    },
    signal: new AbortController().signal,
    version: '1.2.3',
  }
}
