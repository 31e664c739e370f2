import type { DocumentFormat, Path } from './documents/format.ts'

/** The operating systems whose paths are known. All others are treated as Linux. */
export type System = 'linux' | 'darwin' | 'win32'

/**
 * File paths, the preferred one first. `~` is the home folder, `{app}` the folder for application settings,
 * `{NAME|path}` an environment variable or else a path, and a part `*` matches any one name.
 */
export type Places = readonly string[] | Readonly<Record<System, readonly string[]>>

/** How a client writes an entry for a server that it starts. */
export interface EntryShape {
  /** The field that holds the command. Default `command`. */
  readonly command?: string
  /** Whether that field holds the command and its arguments as one list. */
  readonly isCommandList?: boolean
  /** Fields that every entry must have. */
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

/** The client's own command-line program, which makes the change if it is installed. */
export interface OwnCommand {
  readonly program: string
  readonly scopes: readonly Scope[]
  /** `{name}`, `{scope}`, `{entry}` (JSON) and `{named}` (JSON with the name) are filled in; `{command}` becomes several arguments. */
  readonly add: readonly string[]
}

export type Scope = 'user' | 'project'

/** Where the user switches servers of a client off, apart from their entries. */
export interface Switches {
  /** Whether they apply to all projects, or to the current one. */
  readonly scope: Scope
  /** Files as in {@link ClientDescription.user} and {@link ClientDescription.project}. */
  readonly files: readonly string[]
  /** Where a file has them. A part `{project}` is the project folder. */
  readonly path: Path
  /** Names of servers that are off, names of those that are on unless there are none, or `{"<name>": {"enabled": false}}`. */
  readonly rule: 'denied' | 'allowed' | 'enabled'
  /** Only servers in files of this scope. Default: all servers. */
  readonly of?: Scope
}

/** One MCP client: where its configuration is and what it looks like. */
export interface ClientDescription {
  readonly name: string
  readonly title: string
  readonly format: DocumentFormat
  readonly user: Places
  /** Relative to the project folder. */
  readonly project?: readonly string[]
  /** More files that are read, but never written. */
  readonly others?: { readonly user?: Places; readonly project?: readonly string[] }
  /** Where the servers are. If there are several, the first is used unless the file has one of the others. */
  readonly maps: readonly ServerMap[]
  /** Where the user's file keeps the servers of single projects, which are only read. A part `{project}` is the project folder. */
  readonly ofProject?: readonly Path[]
  readonly switches?: readonly Switches[]
  readonly own?: OwnCommand
  /** Whether `$NAME` in an entry is a variable, as in a shell. */
  readonly hasBareVariables?: boolean
  /** A link that installs a server with one click. `{name}`, `{base64}`, `{named}`, `{program}` and `{args}` are filled in. */
  readonly link?: string
  /** The start of a new file, if the client needs more in it than servers. */
  readonly initial?: string
  /** A note for the user after installing. */
  readonly note?: string
}
