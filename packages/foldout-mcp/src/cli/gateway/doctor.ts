import { untilAborted } from 'foldout/promises'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount } from 'foldout-shared/numbers'
import { createGateway } from '../../gateway/gateway.ts'
import { EXIT } from '../support/exit-codes.ts'
import { type Surroundings } from '../support/surroundings.ts'
import {
  createServerFilter,
  describeUnapproved,
  getGatewayOptions,
  noteFailure,
  type ServerOptions,
} from '../support/session.ts'
import { openConfig } from '../support/trust.ts'
import { createProgress } from '../support/progress.ts'
import { createStyler, formatWorking, toLine, toLines, wrapWhole } from '../support/text.ts'

/** The outcome of trying a server. */
interface Examined {
  readonly name: string
  readonly isWorking: boolean
  readonly startMs: number | undefined
  readonly tools: number
  /** Each problem with its fix. */
  readonly problems: readonly string[]
}

interface Examination {
  readonly servers: readonly Examined[]
  /** Problems that belong to no single server, such as a rule that names a server that does not exist. */
  readonly problems: readonly string[]
}

/** `foldout doctor`: starts every server and reports what is wrong. Returns the exit code. */
export async function examineServers(options: ServerOptions, surroundings: Surroundings): Promise<number> {
  const examination = await examine(options, surroundings)
  const { servers, problems } = examination
  const { stdout } = surroundings
  stdout.write(options.json ? `${JSON.stringify(examination, null, 2)}\n` : formatAll(examination, surroundings))
  // A rule that matches nothing protects nobody, so a script must notice it.
  if (problems.length === 0 && servers.every(({ isWorking }) => isWorking)) return EXIT.done
  return EXIT.failed
}

async function examine(options: ServerOptions, surroundings: Surroundings): Promise<Examination> {
  const { env, signal } = surroundings
  const { config, trustSkill } = await openConfig(options, surroundings)
  const reported: { readonly server: string | undefined; readonly message: string }[] = []
  const begun = performance.now()
  const times = new Map<string, number>()
  const failures = new Map<string, string>()
  // No server counts as required here: the point is to report on all of them.
  const servers = config.servers.map((server) => ({ ...server, isRequired: false }))
  const gateway = await createGateway(
    { ...config, servers },
    {
      ...getGatewayOptions(options, env),
      ...dropUndefined({ trustSkill }),
      isFresh: true,
      onEvent(event) {
        noteFailure(failures, event)
        if (event.type === 'problem') reported.push(event)
        if (event.type === 'server/unapproved')
          reported.push({ server: event.server, message: describeUnapproved(event) })
        if (event.type !== 'server/state' || event.state.type === 'starting') return
        if (!times.has(event.server)) times.set(event.server, Math.round(performance.now() - begun))
      },
    },
  )
  try {
    const progress = createProgress(surroundings, options)
    await progress.during(
      () => `Starting ${formatCount(servers.length, 'server')}, ${times.size} tried`,
      () => untilAborted(signal, () => gateway.ready()),
    )
    const catalog = await gateway.getCatalog(dropUndefined({ preset: options.preset }))
    const isIncluded = createServerFilter(config, options)
    const invalid = config.invalid.map(({ name, reason }) => toFailure(name, reason))
    const tried = gateway.servers.map(({ name, tools }): Examined => {
      const failure = failures.get(name)
      if (failure !== undefined) return toFailure(name, failure)
      const broken = catalog.broken.filter(({ source }) => source === name)
      const doubtful = catalog.tools.filter(({ source, problem }) => source === name && problem !== undefined)
      const problems = [
        ...broken.map((tool) => `The tool ${tool.name} cannot be used: ${tool.reason}`),
        ...doubtful.map((tool) => `The tool ${tool.declared} has a problem: ${tool.problem}`),
        ...reported.filter(({ server }) => server === name).map(({ message }) => message),
      ]
      return { name, isWorking: true, startMs: times.get(name), tools: tools ?? 0, problems }
    })
    const problems = reported.filter(({ server }) => server === undefined).map(({ message }) => message)
    return { servers: [...invalid, ...tried].filter(({ name }) => isIncluded(name)), problems }
  } finally {
    await gateway.close()
  }
}

function toFailure(name: string, reason: string): Examined {
  const advice = advise(reason)
  return {
    name,
    isWorking: false,
    startMs: undefined,
    tools: 0,
    problems: [reason, ...(advice === undefined ? [] : [advice])],
  }
}

/** Suggests a fix for the most common failures. */
const ADVICE: readonly (readonly [RegExp, string | undefined])[] = [
  // This message already names the fix.
  [/foldout log(?:in|out)|in "headers"|^The (?:certificate of the )?server\b/, undefined],
  [
    /^Its command was not found/,
    'Install it, or use the full path: desktop apps often have a shorter PATH than your shell.',
  ],
  [
    /environment variable \w+ is not set/,
    'Set it before you start foldout, put it in envFile, or give it a default: ${NAME:-default}.',
  ],
  [
    /not an MCP message/,
    'Check that the command starts an MCP server over stdio, and that it writes its logs to standard error.',
  ],
  [/gave no answer within/, 'Try a longer --timeout. The first start may have to download a package.'],
  [/^It (?:was )?ended/, 'Run its command in a terminal to see more.'],
  [
    /^It answered with HTTP (?:400|404|405)\b/,
    'Check that its URL is the one of an MCP server. It often ends with /mcp or /sse.',
  ],
  [/ECONNREFUSED|ENOTFOUND|connect/, 'Check that the server is running and that its URL is right.'],
  [
    /401|403|[Uu]nauthorized/,
    'The server rejected the credentials. Sign in again with foldout login <server>, or check the token in "headers".',
  ],
]

function advise(reason: string): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(reason))?.[1]
}

function formatAll({ servers, problems: others }: Examination, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const indent = (problems: readonly string[]): readonly string[] =>
    problems.flatMap((problem) => toLines(problem).flatMap((line) => wrapWhole(line, stdout.columns, '  ')))
  const lines = servers.flatMap(({ name, isWorking, startMs, tools, problems }) => {
    const head = isWorking
      ? `${style('bold', toLine(name))}: works, ${tools} ${tools === 1 ? 'tool' : 'tools'}, started in ${startMs ?? 0} ms`
      : `${style('red', toLine(name))}: does not work`
    return [head, ...indent(problems)]
  })
  if (servers.length === 0) lines.push('The configuration has no servers.')
  const working = servers.filter(({ isWorking }) => isWorking).length
  if (others.length > 0) lines.push(style('yellow', 'Other problems:'), ...indent(others))
  if (servers.length > 1) lines.push(formatWorking(working, servers.length - working))
  return `${lines.join('\n')}\n`
}
