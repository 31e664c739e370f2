import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CallResult } from 'foldout/catalog'
import { afterEach, beforeEach } from 'vitest'
import { runCommand } from '../../cli/main.ts'
import type { ServerDefinition } from '../config/definition.ts'
import type { GatewayEvent } from '../model/events.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import {
  browse,
  startAuthorizationServer,
  startGuardedServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type GuardedServer,
} from './oauth.fixtures.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

/** A command's output and exit code. */
interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A sign-in as written to its file when there is no keychain. */
interface Stored {
  readonly issuer: string
  readonly resource: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly secrets: { readonly tokens?: { readonly access_token: string; readonly refresh_token: string } }
}

/** A user with their own home folder, a server, and the authorization server that guards it. */
export interface Desk {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly issuer: AuthorizationServer
  readonly server: GuardedServer
  readonly events: GatewayEvent[]
  /** Closes it after the test. */
  keep<Open extends { close(): Promise<void> }>(opened: Open): Open
  /** Writes the configuration. */
  define(more?: Partial<ServerDefinition>): string
  /** Runs a command, and calls `visit` with the URL that it prints. */
  run(args: readonly string[], visit?: (page: string) => unknown): Promise<Ran>
  logIn(config?: string): Promise<Ran>
  create(more?: Partial<ServerDefinition>): Promise<Gateway>
  readStored(): Stored
  changeStored(change: Partial<Stored>): void
  getFile(): string
}

/** Sets up a desk for each test of a file. */
export function useDesk(options: AuthorizationServerOptions = {}): Desk {
  const open: { close(): Promise<void> }[] = []
  const desk = {} as { -readonly [Key in keyof Desk]: Desk[Key] }
  beforeEach(async () => {
    desk.folder = mkdtempSync(join(tmpdir(), 'foldout-sign-in-'))
    desk.env = { HOME: desk.folder, XDG_DATA_HOME: join(desk.folder, 'data'), FOLDOUT_KEYCHAIN: 'off' }
    desk.events = []
    desk.issuer = desk.keep(await startAuthorizationServer(options))
    desk.server = desk.keep(await startGuardedServer(desk.issuer))
  })
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close()
    await removeFolder(desk.folder)
  })
  return Object.assign(desk, {
    keep(opened) {
      open.push(opened)
      return opened
    },
    define(more = {}) {
      const file = join(desk.folder, 'servers.json')
      writeFileSync(file, JSON.stringify({ mcpServers: { tickets: { url: desk.server.url, ...more } } }))
      return file
    },
    async run(args, visit) {
      let stdout = ''
      let stderr = ''
      const visits: unknown[] = []
      const code = await runCommand(['node', 'foldout', ...args], {
        stdout: { write: (text: string) => (stdout += text) },
        stderr: {
          write(text: string) {
            stderr += text
            if (text.startsWith('http') && visit) visits.push(visit(text.trim()))
          },
        },
        env: desk.env,
        signal: new AbortController().signal,
        version: '0.0.0',
      })
      await Promise.all(visits)
      return { code, stdout, stderr }
    },
    logIn: (config = desk.define()) =>
      desk.run(['login', 'tickets', '--config', config, '--no-browser', '--json'], (page) => browse(page)),
    async create(more = {}) {
      const gateway = await createGateway(
        { mcpServers: { tickets: { url: desk.server.url, ...more } } },
        { cache: join(desk.folder, 'cache'), env: desk.env, onEvent: (event) => desk.events.push(event) },
      )
      desk.keep(gateway)
      await gateway.ready()
      return gateway
    },
    getFile() {
      const files = join(desk.folder, 'data/foldout/sign-ins')
      return join(files, readdirSync(files).find((name) => name.endsWith('.json')) ?? '')
    },
    readStored: () => JSON.parse(readFileSync(desk.getFile(), 'utf8')) as Stored,
    changeStored: (change) => writeFileSync(desk.getFile(), JSON.stringify({ ...desk.readStored(), ...change })),
  } satisfies Omit<Desk, 'folder' | 'env' | 'issuer' | 'server' | 'events'>)
}

export async function whoAmI(gateway: Gateway): Promise<string> {
  const result: CallResult = await (await gateway.getCatalog()).call('whoami', {})
  return result.content.map((piece) => String(piece['text'])).join('\n')
}
