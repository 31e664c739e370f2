import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findPgbouncer, findPostgres } from './binaries.ts'
import { removeFolder } from '../remove-folder.ts'

const USER = 'foldout'

/** A test's own PostgreSQL server, in a private folder and on a private port. */
export interface PostgresServer {
  readonly port: number
  /** The process that the others are children of. */
  readonly pid: number | undefined
  /** Where the programs came from. */
  readonly from: string
  /** The URL of a database, which is created if it does not exist. */
  createDatabase(name: string): Promise<string>
  /** Stops the server and starts it again; `'crash'` as if it had been killed. */
  restart(how: 'fast' | 'crash'): Promise<void>
  /** Stops the server until it is started again. */
  stopForAWhile(): { readonly stopped: Promise<void>; start(): Promise<void> }
  stop(): Promise<void>
}

export interface ServerOptions {
  /** Whether a commit waits for the disk. Default false: tests kill programs, not the machine. */
  readonly isDurable?: boolean
}

/** Starts a new server. It runs until it is stopped or this process ends. */
export async function startPostgres({ isDurable = false }: ServerOptions = {}): Promise<PostgresServer> {
  const { folder: programs, from } = findPostgres()
  const owner = findOwner()
  const folder = makeFolder(owner)
  const data = join(folder, 'data')
  const init = ['-D', data, '-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  const { status, stderr } = spawnSync(join(programs, 'initdb'), init, { ...owner, cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
  const port = await findPort()
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, max_connections: '200' }
  const quick = { fsync: 'off', full_page_writes: 'off' }
  const args = Object.entries({ ...settings, ...(isDurable ? {} : quick) }).flatMap(([k, v]) => ['-c', `${k}=${v}`])
  const getUrl = (database: string): string => `postgresql://${USER}@127.0.0.1:${port}/${database}`
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...args], {
      ...owner,
      cwd: folder,
      stdio: 'ignore',
    })
    await waitFor(child, () => query(getUrl('postgres'), 'SELECT 1'))
    return child
  }
  let server = await start()
  const kill = (): void => void server.kill('SIGQUIT')
  process.once('exit', kill)
  return {
    port,
    get pid() {
      return server.pid
    },
    from,
    async createDatabase(name) {
      const known = await query(getUrl('postgres'), `SELECT FROM pg_database WHERE datname = '${name}'`)
      if (known.rowCount === 0) await query(getUrl('postgres'), `CREATE DATABASE ${name}`)
      return getUrl(name)
    },
    async restart(how) {
      await end(server, how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      server = await start()
    },
    stopForAWhile() {
      const stopped = end(server, 'SIGINT')
      return {
        stopped,
        async start() {
          await stopped
          server = await start()
        },
      }
    },
    async stop() {
      process.off('exit', kill)
      await end(server, 'SIGQUIT')
      await removeFolder(folder)
    },
  }
}

export interface Pgbouncer {
  getUrl(database: string): string
  stop(): Promise<void>
}

/** Starts pgbouncer in transaction mode in front of a server; `undefined` on machines without it. */
export async function startPgbouncer({ port: serverPort }: PostgresServer): Promise<Pgbouncer | undefined> {
  const program = findPgbouncer()
  if (program === undefined) return undefined
  const owner = findOwner()
  const folder = makeFolder(owner)
  const port = await findPort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${serverPort} user=${USER}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      // Few and shared, so that consecutive statements of a client reach different connections.
      'default_pool_size = 4',
      'server_round_robin = 1',
    ].join('\n'),
  )
  const child = spawn(program, [settings], { ...owner, cwd: folder, stdio: 'ignore' })
  const getUrl = (database: string): string => `postgresql://${USER}@127.0.0.1:${port}/${database}`
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  await waitFor(child, () => query(getUrl('postgres'), 'SELECT 1'))
  return {
    getUrl,
    async stop() {
      process.off('exit', kill)
      await end(child, 'SIGKILL')
      await removeFolder(folder)
    },
  }
}

/** Runs one statement on its own connection. */
export async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await client.query(sql)
  } finally {
    await client.end().catch(() => undefined)
  }
}

interface Owner {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL refuses to run as root, so root lends it another user. */
function findOwner(): Owner {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody') ?? []
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) }
}

function makeFolder({ uid, gid }: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-postgres-'))
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

function findPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

async function waitFor(child: ChildProcess, isReady: () => Promise<unknown>): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode} while it started.`)
    try {
      await isReady()
      return
    } catch {
      await sleep(50)
    }
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
