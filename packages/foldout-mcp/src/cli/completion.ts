import { Argument, Option, type Command } from 'commander'
import { UsageError } from '../gateway/config/config.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { NameKind } from './known-names.ts'
import { EXIT } from './support/exit-codes.ts'
import { collect, formatExamples, type AddCommands } from './support/options.ts'

type Shell = keyof typeof SCRIPTS

const NAME_KINDS: readonly NameKind[] = ['servers', 'tools']

/** `foldout completion <shell>`: prints a script that completes commands, options and their values in a shell. */
export const addCompletion: AddCommands = (program, surroundings, finish) => {
  const { stdout } = surroundings
  program
    .command('completion')
    .description('print a shell completion script')
    .addArgument(new Argument('[shell]', 'the shell to print the script for').choices(Object.keys(SCRIPTS)))
    .addOption(new Option('--names <kind>', 'print the names that the script completes').choices(NAME_KINDS))
    .option('-c, --config <file>', 'the configuration whose names to print; repeatable', collect)
    .option('--json', 'print JSON: the script, and every command with its options')
    .addHelpText(
      'after',
      formatExamples(
        'source <(foldout completion bash)',
        'foldout completion zsh > "${fpath[1]}/_foldout"',
        'foldout completion fish > ~/.config/fish/completions/foldout.fish',
      ),
    )
    .action(async (shell: Shell | undefined, options: CompletionOptions) => {
      const { json, names, config } = options
      if (names !== undefined) {
        const { listKnownNames } = await import('./known-names.ts')
        const known = await listKnownNames(names, dropUndefined({ config }), surroundings)
        stdout.write(json ? `${JSON.stringify(known, null, 2)}\n` : known.map((name) => `${name}\n`).join(''))
        return finish(EXIT.done)
      }
      if (shell === undefined) throw new UsageError(`Name the shell: ${Object.keys(SCRIPTS).join(', ')}.`)
      const { CLIENTS } = await import('../clients/known/clients.ts')
      const clients = CLIENTS.map(({ name }) => name)
      const commands = describeCommands(program, clients)
      const script = SCRIPTS[shell](commands)
      stdout.write(json ? `${JSON.stringify({ shell, script, commands }, null, 2)}\n` : script)
      finish(EXIT.done)
    })
}

interface CompletionOptions {
  readonly json?: boolean
  readonly names?: NameKind
  readonly config?: readonly string[]
}

/** The commands and their options as JSON, or those of one command: `foldout help --json`, `foldout help tools --json`. */
export async function formatHelpJson(program: Command, name: string | undefined): Promise<string> {
  const { CLIENTS } = await import('../clients/known/clients.ts')
  const commands = describeCommands(
    program,
    CLIENTS.map((client) => client.name),
  )
  const asked = name === undefined ? { commands } : { command: commands.find((command) => command.name === name) }
  return `${JSON.stringify({ name: program.name(), description: program.description(), ...asked }, null, 2)}\n`
}

/** A command, as a shell needs to know it. */
interface DescribedCommand {
  readonly name: string
  readonly description: string
  readonly options: readonly DescribedOption[]
  readonly takesArguments: boolean
  /** The possible arguments, if they are known. */
  readonly arguments: readonly string[]
  /** The names of the configuration that an argument may be. */
  readonly names?: NameKind
  /** Whether an argument may be a file. */
  readonly takesFiles: boolean
}

interface DescribedOption {
  /** All spellings, such as `-c` and `--config`. */
  readonly flags: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  /** The possible values, if they are known. */
  readonly values: readonly string[]
  /** Whether the value is a file or a folder. */
  readonly takesFiles: boolean
}

/** What the help calls arguments and values that are files. A command line may contain files, too. */
const FILES: ReadonlySet<string> = new Set(['file', 'folder', 'module', 'recording', 'queries', 'target', 'command'])

/** Derives the description from the program itself, so that new commands are completed without a change here. */
function describeCommands(program: Command, clients: readonly string[]): readonly DescribedCommand[] {
  const commands = program.commands.map((command): DescribedCommand => {
    const args = command.registeredArguments.flatMap((argument) =>
      argument.name() === 'client' ? clients : (argument.argChoices ?? []),
    )
    return {
      name: command.name(),
      description: command.description(),
      options: [...command.options.map((option) => describeOption(option, clients)), HELP],
      takesArguments: command.commands.length + command.registeredArguments.length > 0,
      arguments: [...command.commands.map((inner) => inner.name()), ...args],
      ...dropUndefined({ names: findNames(command) }),
      takesFiles: command.registeredArguments.some((argument) => FILES.has(argument.name())),
    }
  })
  const names = commands.map(({ name }) => name)
  return [
    ...commands,
    {
      name: 'help',
      description: 'show the help of a command',
      options: [],
      takesArguments: true,
      arguments: names,
      takesFiles: false,
    },
  ]
}

/** Which names the first argument of a command is one of. */
function findNames(command: Command): NameKind | undefined {
  const [first] = command.registeredArguments
  if (first?.name() === 'tool') return 'tools'
  if (first?.name() === 'server') return 'servers'
  return undefined
}

const HELP: DescribedOption = {
  flags: ['-h', '--help'],
  description: 'display help',
  takesValue: false,
  values: [],
  takesFiles: false,
}

function describeOption(option: Option, clients: readonly string[]): DescribedOption {
  const { short, long, description, required, optional, argChoices = [] } = option
  const flags = [short, long].filter((flag) => flag !== undefined)
  const values = option.flags === '--client <name>' ? clients : argChoices
  const [, value = ''] = /[<[]([^>\]]*)/.exec(option.flags) ?? []
  return { flags, description, takesValue: required || optional, values, takesFiles: FILES.has(value) }
}

const SCRIPTS = { bash: formatBash, zsh: formatZsh, fish: formatFish }

/** Puts text in single quotes, inside which only a single quote is special to a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Lines that complete the current word with one of the words of a variable, or with the name of a file. Either may contain spaces. */
const COMPLETE_WORDS = `COMPREPLY=($(compgen -W "$words" -- "$current"))`
const COMPLETE_FILES = `COMPREPLY=($(compgen -f -- "$current"))`

function formatBash(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name }) => name)
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const patterns = option.flags.map((flag) => `${command.name}:${flag}`).join('|')
        const files = option.takesFiles ? `${COMPLETE_FILES}; ` : ''
        const reply = option.values.length === 0 ? files : `words=${quoteWords(option.values)}; ${COMPLETE_WORDS}; `
        return `    ${patterns}) ${reply}return ;;`
      }),
  )
  const words = commands.map((command) => {
    const flags = command.options.flatMap((option) => option.flags)
    const offered = command.takesArguments ? command.arguments : flags
    const more = `${command.names ? ` names=${command.names}` : ''}${command.takesFiles ? ' files=1' : ''}`
    return `    ${command.name}) flags=${quoteWords(flags)} words=${quoteWords(offered)}${more} ;;`
  })
  return `# foldout completion for bash: source <(foldout completion bash)
_foldout() {
  local IFS=$'\\n' command="\${COMP_WORDS[1]}" flags='' words='' names='' files='' at
  local -a config=()
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  # Bash splits --option=value into three words.
  if [ "$current" = '=' ]; then current=''; elif [ "$previous" = '=' ]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quoteWords([...names, '--help', '--version'])}
    ${COMPLETE_WORDS}
    return
  fi
  case "$command:$previous" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  for ((at = 2; at < COMP_CWORD - 1; at++)); do
    case "\${COMP_WORDS[at]}" in -c|--config) config+=(--config "\${COMP_WORDS[at+1]}") ;; esac
  done
  case "$current" in
    -*) words="$flags" ;;
    *) if [ -n "$names" ]; then words="$(foldout completion --names "$names" "\${config[@]}" 2>/dev/null)"; fi ;;
  esac
  ${COMPLETE_WORDS}
  if [ "\${#COMPREPLY[@]}" -eq 0 ] && [ -n "$files" ]; then ${COMPLETE_FILES}; fi
}
complete -o filenames -o bashdefault -F _foldout foldout
`
}

/** A list of words for `compgen`, one on each line. */
function quoteWords(words: readonly string[]): string {
  return `$'${words.map((word) => word.replaceAll(/[\\']/g, String.raw`\$&`)).join(String.raw`\n`)}'`
}

function formatZsh(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, description }) => `    ${quote(`${escapeZsh(name)}:${description}`)}`)
  const offer = (words: readonly string[], takesFiles: boolean): string => {
    if (words.length > 0) return `(${words.map(escapeSpaces).join(' ')})`
    if (takesFiles) return '_files'
    return ' '
  }
  const cases = commands.map(({ name, options, arguments: given, names: kind, takesFiles: isFile }) => {
    const specs = options.flatMap(({ flags, description, takesValue, values, takesFiles }) =>
      flags.map((flag) => {
        const value = `:value:${offer(values, takesFiles)}`
        // The value of a long option may also follow an equals sign.
        const name = takesValue && flag.startsWith('--') ? `${flag}=` : flag
        return quote(`*${name}[${escapeZsh(description)}]${takesValue ? value : ''}`)
      }),
    )
    const known = kind && `{compadd -- \${(f)"$(foldout completion --names ${kind} 2>/dev/null)"}}`
    const rest = `*:argument:${known ?? offer(given, isFile)}`
    return `    ${name}) _arguments ${[...specs, quote(rest)].join(' ')} ;;`
  })
  return `#compdef foldout
# foldout completion for zsh: foldout completion zsh > "\${fpath[1]}/_foldout"
_foldout() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_foldout" ]; then _foldout "$@"; else compdef _foldout foldout; fi
`
}

function escapeSpaces(text: string): string {
  return text.replaceAll(' ', String.raw`\ `)
}

/** Escapes colons and brackets, which would end a part of the description. */
function escapeZsh(text: string): string {
  return text.replaceAll(/[\\:[\]]/g, String.raw`\$&`)
}

function formatFish(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, description }) =>
    ['complete -c foldout -n __fish_use_subcommand -f -a', name, '-d', quoteFish(description)].join(' '),
  )
  const others = commands.flatMap(({ name, options, arguments: given, names: kind, takesFiles }) => {
    const only = `complete -c foldout -n ${quoteFish(`__fish_seen_subcommand_from ${name}`)}`
    const flags = options.map((option) => {
      const spelled = option.flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      )
      const list = option.values.length === 0 ? [] : ['-x', '-a', quoteFish(option.values.map(escapeSpaces).join(' '))]
      // A file is offered even if the command takes none.
      const other = option.takesFiles ? ['-r', '-F'] : ['-x']
      const value = option.takesValue && list.length === 0 ? other : list
      return [only, ...spelled, ...value, '-d', quoteFish(option.description)].join(' ')
    })
    const known = kind && `(foldout completion --names ${kind} 2>/dev/null)`
    const noFiles = takesFiles ? [] : [`${only} -f`]
    if (known) return [...flags, `${only} -f -a ${quoteFish(known)}`]
    if (given.length === 0) return [...flags, ...noFiles]
    return [...flags, `${only} -f -a ${quoteFish(given.join(' '))}`]
  })
  return `# foldout completion for fish\n${[...names, ...others].join('\n')}\n`
}

/** Fish has two escapes inside single quotes. */
function quoteFish(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
