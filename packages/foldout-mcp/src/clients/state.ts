import { chmod, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { ignore } from 'foldout/promises'
import { boolean, list, object, parse, ShapeError, string } from '../shared/shapes.ts'
import { isMissing } from 'foldout-shared/error-codes'
import { createFolders, findFile, followLinks, replaceFile, type FoundFile } from './files.ts'
import { hashText } from '../shared/hash.ts'
import { holdLock } from './lock.ts'

const strings = v.pipe(list(string), v.readonly())
const readonlyList = <Type extends v.GenericSchema>(item: Type) => v.pipe(list(item), v.readonly())

/** A server that was moved into the gateway's configuration. */
const movedServerSchema = object({
  /** Its name in the client. */
  name: string,
  /** Its name in the configuration. */
  to: string,
  /** The entry that was removed from the client's file, unchanged. */
  entry: v.unknown(),
})

/** A record of what an installation did to a client's file, so that it can be undone exactly. */
const receiptSchema = object({
  client: string,
  file: string,
  name: string,
  path: strings,
  isList: boolean,
  /** Whether the installation created the object that holds the servers. */
  isNewContainer: boolean,
  /** The text before; null if there was no file. */
  before: v.nullable(string),
  /** The text after. */
  after: string,
  createdFolders: strings,
  moved: readonlyList(movedServerSchema),
  /** The configuration of the gateway. */
  config: string,
})

/** A server that installations added to a configuration. */
const addedServerSchema = object({
  name: string,
  /** As the client had it. */
  definition: v.unknown(),
  /** The clients' files that it was moved from and that have not got it back. */
  owners: strings,
})

/** A record of what installations did to a gateway's configuration. It is kept until no client uses the configuration. */
const configRecordSchema = object({
  file: string,
  /** The text before the first installation; null if there was no file. */
  before: v.nullable(string),
  /** The hash of the text after the last one. */
  after: string,
  createdFolders: strings,
  servers: readonlyList(addedServerSchema),
})

/** A file of a folder whose content the user has trusted. */
const trustedSchema = object({
  file: string,
  /** The hash of the content. */
  content: string,
})

export type TrustedFile = Readonly<v.InferOutput<typeof trustedSchema>>
export type MovedServer = Readonly<v.InferOutput<typeof movedServerSchema>>
export type Receipt = Readonly<v.InferOutput<typeof receiptSchema>>
export type AddedServer = Readonly<v.InferOutput<typeof addedServerSchema>>
export type ConfigRecord = Readonly<v.InferOutput<typeof configRecordSchema>>

/** Records of one kind, one for each file. A damaged record is treated as missing. */
export interface Records<Content extends { readonly file: string }> {
  read(file: string): Promise<Content | undefined>
  list(): Promise<readonly Content[]>
  write(record: Content): Promise<void>
  remove(file: string): Promise<void>
}

/** The state Foldout keeps between commands: records, backups and locks. It holds secrets, so only the user can read it. */
export interface State {
  /** What was done to the files of clients. */
  readonly receipts: Records<Receipt>
  /** What was done to configurations of gateways. */
  readonly configs: Records<ConfigRecord>
  /** The files of folders that the user has trusted, with the content they had. */
  readonly trusted: Records<TrustedFile>
  /** Backs up a file, if it exists. Returns the path of the backup. */
  keepBackup(found: FoundFile): Promise<string | undefined>
  /** Runs work while no other command can change the file. */
  withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result>
}

export function createState(folder: string): State {
  return {
    receipts: createRecords(folder, 'installed', receiptSchema),
    configs: createRecords(folder, 'configs', configRecordSchema),
    trusted: createRecords(folder, 'trusted', trustedSchema),
    async keepBackup({ path, text }) {
      if (text === undefined) return undefined
      const place = await createPrivateFolder(folder, 'backups')
      const backup = join(place, `${getKey(path)}-${hashText(text).slice(0, 12)}`)
      await replaceFile({ ...(await findFile(backup)), mode: 0o600 }, text)
      return backup
    },
    async withLock(file, work) {
      const place = await createPrivateFolder(folder, 'locks')
      return holdLock(join(place, getKey(await followLinks(file))), work)
    },
  }
}

function createRecords<Content extends { readonly file: string }>(
  folder: string,
  name: string,
  schema: v.GenericSchema<unknown, Content>,
): Records<Content> {
  const place = join(folder, name)
  const getRecordFile = (file: string): string => join(place, `${getKey(file)}.json`)
  return {
    read: (file) => readRecord(getRecordFile(file), schema),
    async list() {
      const names = await readdir(place).catch(() => [])
      const all = await Promise.all(names.map((one) => readRecord(join(place, one), schema)))
      return all.flatMap((record) => record ?? [])
    },
    async write(record) {
      await createPrivateFolder(folder, name)
      await replaceFile(await findFile(getRecordFile(record.file)), JSON.stringify(record))
    },
    remove: (file) => rm(getRecordFile(file), { force: true }),
  }
}

async function readRecord<Content>(
  file: string,
  schema: v.GenericSchema<unknown, Content>,
): Promise<Content | undefined> {
  try {
    return parse(schema, JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError || error instanceof ShapeError) return undefined
    throw error
  }
}

/** A readable name, different for each file. */
function getKey(file: string): string {
  const name = file.replaceAll(/[^A-Za-z0-9.]+/g, '-').slice(-60)
  return `${name}-${hashText(file).slice(0, 12)}`
}

async function createPrivateFolder(folder: string, name: string): Promise<string> {
  const place = join(folder, name)
  await createFolders(place, 0o700)
  await ignore(chmod(folder, 0o700), "it is another user's")
  return place
}
