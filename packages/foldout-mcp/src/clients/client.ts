import type { DocumentFormat, Path } from './documents/document.ts'

/** The systems whose paths are known. Others are treated as Linux. */
export type System = 'linux' | 'darwin' | 'win32'

/**
 * Paths of files, the preferred one first. `~` is the home folder, `{app}` the folder for settings of programs,
 * `{NAME|path}` an environment variable or else a path, and a part `*` stands for any one name.
 */
export type Places = readonly string[] | Readonly<Record<System, readonly string[]>>

/** How a client writes a server that it starts itself. */
export interface EntryShape {
  /** The field with the command. Default `command`. */
  readonly command?: string
  /** Whether that field holds the command and its arguments as one list. */
  readonly isCommandList?: boolean
  /** Fields that every entry has. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Whether the entry repeats its name. */
  readonly hasName?: boolean
}

/** Where in a file a client keeps its servers. */
export interface ServerMap {
  readonly path: Path
  readonly shape: EntryShape
  /** Whether the servers are a list of entries with names, instead of an object. */
  readonly isList?: boolean
}

/** The client's own program, by which it is changed if it is installed. */
export interface OwnCommand {
  readonly program: string
  readonly scopes: readonly Scope[]
  /** `{name}`, `{scope}`, `{entry}` (JSON) and `{named}` (JSON with the name) are filled in; `{command}` becomes several arguments. */
  readonly add: readonly string[]
}

export type Scope = 'user' | 'project'

/** One MCP client: where its configuration lies, and what it looks like. */
export interface ClientDescription {
  readonly name: string
  readonly title: string
  readonly format: DocumentFormat
  readonly user: Places
  /** Relative to the folder of a project. */
  readonly project?: readonly string[]
  /** Further files that are read, but never written. */
  readonly others?: { readonly user?: Places; readonly project?: readonly string[] }
  /** Where the servers are. If there are several, the first is used unless the file has one of the others. */
  readonly maps: readonly ServerMap[]
  /** Further places in the file that are read. A part `{project}` is the folder of the project. */
  readonly alsoRead?: readonly Path[]
  readonly own?: OwnCommand
  /** A link that installs a server by one click. `{name}`, `{base64}`, `{named}`, `{program}` and `{args}` are filled in. */
  readonly link?: string
  /** What a new file begins with, if the client needs more than servers in it. */
  readonly initial?: string
  /** What a user should know after installing. */
  readonly note?: string
}
