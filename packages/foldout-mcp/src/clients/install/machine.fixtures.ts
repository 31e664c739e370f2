import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import type { ClientDescription } from '../client.ts'
import { installGateway, type InstallRequest, type InstallResult } from './install.ts'
import { getClient } from '../known/clients.ts'
import { chooseFile, type Whereabouts } from '../places.ts'
import { uninstallGateway, type UninstallResult } from './uninstall.ts'

/** A machine of its own for each test, with a home folder and a project. */
export interface Machine {
  readonly folder: string
  where: Whereabouts
  /** The gateway's configuration by default. */
  readonly config: string
  install(client: string | ClientDescription, more?: Partial<InstallRequest>): Promise<InstallResult>
  uninstall(client: string | ClientDescription): Promise<UninstallResult>
  getFile(client: string): string
  /** Writes the user's file of a client. */
  write(client: string, text: string): Promise<string>
}

export function createMachine(): Machine {
  const machine = {
    folder: '',
    where: { env: {}, platform: 'linux', project: '' } as Whereabouts,
    config: '',
    install: (client: string | ClientDescription, more: Partial<InstallRequest> = {}) =>
      installGateway({
        client: toClient(client),
        scope: 'user',
        where: machine.where,
        name: 'foldout',
        version: '1.2.3',
        ...more,
      }),
    uninstall: (client: string | ClientDescription) =>
      uninstallGateway({ client: toClient(client), scope: 'user', where: machine.where }),
    getFile(client: string) {
      const file = chooseFile(getClient(client), 'user', machine.where)
      if (file === undefined) throw new Error(`${client} has no file.`)
      return file
    },
    async write(client: string, text: string) {
      const file = machine.getFile(client)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
      return file
    },
  }
  beforeEach(async () => {
    machine.folder = await realpath(await mkdtemp(join(tmpdir(), 'foldout-clients-')))
    const [home, project] = [join(machine.folder, 'home'), join(machine.folder, 'project')]
    await mkdir(home)
    await mkdir(project)
    machine.where = { env: { HOME: home, PATH: '' }, platform: 'linux', project }
    machine.config = join(project, 'foldout.config.json')
  })
  afterEach(() => rm(machine.folder, { recursive: true, force: true }))
  return machine
}

function toClient(client: string | ClientDescription): ClientDescription {
  return typeof client === 'string' ? getClient(client) : client
}
