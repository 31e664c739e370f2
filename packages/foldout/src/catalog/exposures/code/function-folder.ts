import type { Catalog } from '../../contract.ts'
import { isForModels } from '../../entries/audience.ts'
import { toIdentifier } from '../../signatures/identifier.ts'
import { formatStub } from '../../signatures/stub.ts'
import type { CatalogEntry } from '../../tool.ts'

/** The tools of one source, as methods of an object. */
export interface ServerFolder {
  /** The name of the object in programs. */
  readonly identifier: string
  readonly description: string | undefined
  /** By the name of the method. */
  readonly tools: ReadonlyMap<string, CatalogEntry>
}

/** A catalog as folders of declarations, and as the functions of a program. */
export interface FunctionFolder {
  readonly servers: ReadonlyMap<string, ServerFolder>
  /** By the names that programs use: `server.tool`, and `tools.<name>` with the name that models see. */
  readonly functions: ReadonlyMap<string, CatalogEntry>
  getPath(entry: CatalogEntry): string
  formatStubText(entry: CatalogEntry): string
}

/** The object that has every tool under the name that models see. */
export const ALL_TOOLS = 'tools'
/** The server of tools without a source. */
const LOCAL = 'local'

/** Globals of the engine, which programs may use. */
const GLOBALS = (
  'Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError AggregateError ' +
  'SuppressedError Iterator Array parseInt parseFloat isNaN isFinite queueMicrotask decodeURI decodeURIComponent encodeURI ' +
  'encodeURIComponent escape unescape Infinity NaN undefined eval Number Boolean String Math Reflect Symbol DisposableStack ' +
  'globalThis BigInt Date RegExp JSON Proxy Map Set WeakMap WeakSet ArrayBuffer SharedArrayBuffer Uint8ClampedArray Int8Array ' +
  'Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array ' +
  'Float64Array DataView Promise AsyncDisposableStack WeakRef FinalizationRegistry DOMException btoa atob performance ' +
  'console setTimeout clearTimeout'
).split(' ')

const folders = new WeakMap<readonly CatalogEntry[], FunctionFolder>()

/** Gets the folder for the current state of a catalog. */
export function getFolder(catalog: Catalog): FunctionFolder {
  // The list of tools is replaced whenever the catalog changes.
  const { tools } = catalog
  let folder = folders.get(tools)
  if (!folder) folders.set(tools, (folder = createFolder(catalog)))
  return folder
}

interface Place {
  readonly server: string
  readonly identifier: string
}

function createFolder({ tools, sources }: Catalog): FunctionFolder {
  const bySource = new Map<string | undefined, CatalogEntry[]>()
  for (const { name } of sources) bySource.set(name, [])
  for (const entry of tools.filter(isForModels)) {
    const group = bySource.get(entry.source)
    if (group) group.push(entry)
    else bySource.set(entry.source, [entry])
  }
  const servers = new Map<string, ServerFolder>()
  const functions = new Map<string, CatalogEntry>()
  const places = new Map<CatalogEntry, Place>()
  const taken = new Set([...GLOBALS, ALL_TOOLS])
  for (const [source, entries] of bySource) {
    const server = toIdentifier(source ?? LOCAL, taken)
    taken.add(server)
    const named = new Map<string, CatalogEntry>()
    const names = new Set<string>()
    for (const entry of entries) {
      const identifier = toIdentifier(entry.declared, names)
      names.add(identifier)
      named.set(identifier, entry)
      functions.set(`${server}.${identifier}`, entry)
      places.set(entry, { server, identifier })
    }
    const description = sources.find(({ name }) => name === source)?.description
    servers.set(server, { identifier: server, description, tools: named })
  }
  for (const entry of tools) functions.set(`${ALL_TOOLS}.${entry.name}`, entry)
  return {
    servers,
    functions,
    getPath(entry) {
      const { server = LOCAL, identifier = entry.name } = places.get(entry) ?? {}
      return `servers/${server}/${identifier}.d.ts`
    },
    formatStubText: (entry) => formatStub(entry, places.get(entry)).text,
  }
}
