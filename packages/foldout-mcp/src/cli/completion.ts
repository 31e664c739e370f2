import { Argument, type Command, type Option } from 'commander'
import { EXIT } from './exit-codes.ts'
import { formatExamples, type AddCommands } from './options.ts'

type Shell = keyof typeof SCRIPTS

/** `foldout completion <shell>`: prints a script that completes commands, options and their values in a shell. */
export const addCompletion: AddCommands = (program, { stdout }, finish) => {
  program
    .command('completion')
    .description('print a shell completion script')
    .addArgument(new Argument('<shell>', 'the shell to print the script for').choices(Object.keys(SCRIPTS)))
    .option('--json', 'print JSON: the script, and every command with its options')
    .addHelpText(
      'after',
      formatExamples(
        'source <(foldout completion bash)',
        'foldout completion zsh > "${fpath[1]}/_foldout"',
        'foldout completion fish > ~/.config/fish/completions/foldout.fish',
      ),
    )
    .action(async (shell: Shell, { json }: { readonly json?: boolean }) => {
      const { CLIENTS } = await import('../clients/known/clients.ts')
      const clients = CLIENTS.map(({ name }) => name)
      const commands = describeCommands(program, clients)
      const script = SCRIPTS[shell](commands)
      stdout.write(json ? `${JSON.stringify({ shell, script, commands }, null, 2)}\n` : script)
      finish(EXIT.done)
    })
}

/** A command, as a shell needs to know it. */
interface DescribedCommand {
  readonly name: string
  readonly description: string
  readonly options: readonly DescribedOption[]
  /** The possible arguments. If empty, the shell offers files. */
  readonly arguments: readonly string[]
}

interface DescribedOption {
  /** All spellings, such as `-c` and `--config`. */
  readonly flags: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  /** The possible values. If empty, the shell offers files. */
  readonly values: readonly string[]
}

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
      arguments: [...command.commands.map((inner) => inner.name()), ...args],
    }
  })
  const names = commands.map(({ name }) => name)
  return [...commands, { name: 'help', description: 'show the help of a command', options: [], arguments: names }]
}

const HELP: DescribedOption = { flags: ['-h', '--help'], description: 'display help', takesValue: false, values: [] }

function describeOption(option: Option, clients: readonly string[]): DescribedOption {
  const { short, long, description, required, optional, argChoices = [] } = option
  const flags = [short, long].filter((flag) => flag !== undefined)
  const values = option.flags === '--client <name>' ? clients : argChoices
  return { flags, description, takesValue: required || optional, values }
}

const SCRIPTS = { bash: formatBash, zsh: formatZsh, fish: formatFish }

/** Puts text in single quotes, inside which only a single quote is special to a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Names of files may contain spaces. */
const COMPLETE_FILES = `local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current"))`

function formatBash(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name }) => name)
  const values = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const patterns = option.flags.map((flag) => `${command.name}:${flag}`).join('|')
        return `    ${patterns}) ${formatReply(option.values)} ;;`
      }),
  )
  const words = commands.map((command) => {
    const flags = command.options.flatMap((option) => option.flags)
    return `    ${command.name}) words=${quote([...flags, ...command.arguments].join(' '))} ;;`
  })
  return `# foldout completion for bash: source <(foldout completion bash)
_foldout() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quote(`${names.join(' ')} --help --version`)} -- "$current"))
    return
  fi
  case "$command:$previous" in
${values.join('\n')}
  esac
  case "$command" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then ${COMPLETE_FILES}; fi
}
complete -o filenames -o bashdefault -F _foldout foldout
`
}

function formatReply(values: readonly string[]): string {
  if (values.length === 0) return `${COMPLETE_FILES}; return`
  return `COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$current")); return`
}

function formatZsh(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, description }) => `    ${quote(`${escapeZsh(name)}:${description}`)}`)
  const cases = commands.map(({ name, options, arguments: given }) => {
    const specs = options.flatMap(({ flags, description, takesValue, values }) =>
      flags.map((flag) => {
        const value = values.length === 0 ? ':value:_files' : `:value:(${values.join(' ')})`
        return quote(`*${flag}[${escapeZsh(description)}]${takesValue ? value : ''}`)
      }),
    )
    const rest = given.length === 0 ? '*:argument:_files' : `*:argument:(${given.join(' ')})`
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

/** Escapes colons and brackets, which would end a part of the description. */
function escapeZsh(text: string): string {
  return text.replaceAll(/[\\:[\]]/g, String.raw`\$&`)
}

function formatFish(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, description }) =>
    ['complete -c foldout -n __fish_use_subcommand -f -a', name, '-d', quoteFish(description)].join(' '),
  )
  const others = commands.flatMap(({ name, options, arguments: given }) => {
    const only = `complete -c foldout -n ${quoteFish(`__fish_seen_subcommand_from ${name}`)}`
    const flags = options.map((option) => {
      const spelled = option.flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      )
      const list = option.values.length === 0 ? [] : ['-x', '-a', quoteFish(option.values.join(' '))]
      const value = option.takesValue && list.length === 0 ? ['-r'] : list
      return [only, ...spelled, ...value, '-d', quoteFish(option.description)].join(' ')
    })
    return given.length === 0 ? flags : [...flags, `${only} -f -a ${quoteFish(given.join(' '))}`]
  })
  return `# foldout completion for fish\n${[...names, ...others].join('\n')}\n`
}

/** Fish has two escapes inside single quotes. */
function quoteFish(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
