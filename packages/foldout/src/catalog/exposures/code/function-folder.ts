import type { Catalog } from '../../catalog.ts'
import { toIdentifier } from '../../signatures/identifier.ts'
import { formatStub } from '../../signatures/stub.ts'
import type { CatalogEntry } from '../../tool.ts'

/** The tools of one source, as functions of an object. */
export interface ServerFolder {
  /** What the object is called in programs. */
  readonly identifier: string
  readonly description: string | undefined
  /** By what the functions are called. */
  readonly tools: ReadonlyMap<string, CatalogEntry>
}

/** A catalog as folders of declarations, and as the functions of a program. */
export interface FunctionFolder {
  readonly servers: ReadonlyMap<string, ServerFolder>
  /** By what programs call them: `server.tool`, and `tools.<name>` with the name they have elsewhere. */
  readonly functions: ReadonlyMap<string, CatalogEntry>
  getPath(entry: CatalogEntry): string
  formatStubText(entry: CatalogEntry): string
}

/** The object on which every tool hangs under the name that it has elsewhere. */
export const ALL_TOOLS = 'tools'
/** Of tools without a source. */
const LOCAL = 'local'

/** What the engine has already, and programs may want. */
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

/** The folder of a catalog as it is now. */
export function getFolder(catalog: Catalog): FunctionFolder {
  // A catalog that changes has another list of tools.
  const { tools } = catalog
  let folder = folders.get(tools)
  if (!folder) folders.set(tools, (folder = makeFolder(catalog)))
  return folder
}

interface Place {
  readonly server: string
  readonly identifier: string
}

function makeFolder({ tools, sources }: Catalog): FunctionFolder {
  const bySource = new Map<string | undefined, CatalogEntry[]>()
  for (const { name } of sources) bySource.set(name, [])
  for (const entry of tools) {
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
      const { server, identifier } = places.get(entry)!
      return `servers/${server}/${identifier}.d.ts`
    },
    formatStubText: (entry) => formatStub(entry, places.get(entry)).text,
  }
}
