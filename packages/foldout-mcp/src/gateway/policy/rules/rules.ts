import { listModelNames, type ToolAnnotations } from 'foldout/catalog'
import type { GatewayConfig } from '../../config/config.ts'
import type { RuleAnnotation, RuleDefinition } from '../../config/definition.ts'
import { hasParts } from '../../../shared/fields.ts'
import { toVisible } from '../../../shared/visible.ts'

/** The client that makes the call. */
export interface Who {
  /** The name the client gave. */
  readonly client: string | undefined
  /** The user whose token it sent. */
  readonly user: string | undefined
}

/** The requested tool, and the preset it is in. */
export interface ToolFacts {
  readonly preset: string
  readonly server: string
  /** The server's name for the tool, and the names that clients may see. */
  readonly names: readonly string[]
  readonly annotations: ToolAnnotations | undefined
}

/** A tool under the name that its server gives it, and as clients see it. */
export interface NamedTool {
  readonly definition: { readonly name: string }
  readonly shown: { readonly name: string; readonly annotations?: ToolAnnotations | undefined }
}

/** A tool as the rules see it. Its names are found when a rule asks for them: many catalogs are large, and few have rules for tools. */
export function createFacts(preset: string, server: string, tool: NamedTool): ToolFacts {
  let names: readonly string[] | undefined
  return {
    preset,
    server,
    get names() {
      return (names ??= listToolNames(server, tool))
    },
    annotations: tool.shown.annotations,
  }
}

/**
 * Every name that a person may use for a tool: the server's own, the one that the configuration gives it, and those
 * under which clients may see it.
 */
export function listToolNames(server: string, { definition, shown }: NamedTool): readonly string[] {
  return [...new Set([definition.name, shown.name, ...listModelNames(server, shown.name)])]
}

export interface Decision {
  readonly action: RuleDefinition['action']
  readonly reason: string | undefined
}

/** Rules in the order in which they are tried. */
export interface Rules {
  /** Whether there are none, so that every call is allowed. */
  readonly isEmpty: boolean
  decide(who: Who, tool: ToolFacts): Decision
  /** The decision, if it is the same for every client. */
  decideForAll(tool: ToolFacts): Decision | undefined
  /** Whether a server is denied to a client as a whole, not only its tools. */
  deniesServer(who: Who, preset: string, server: string): boolean
  /** Equal for clients that get the same decision for every call. */
  getProfile(who: Who): string
}

export const ALLOWED: Decision = { action: 'allow', reason: undefined }
export const NOBODY: Who = { client: undefined, user: undefined }

export function createRules(definitions: readonly RuleDefinition[]): Rules {
  const rules = definitions.map(compileRule)
  const personal = rules.filter(({ isPersonal }) => isPersonal)
  return {
    isEmpty: rules.length === 0,
    decide: (who, tool) =>
      rules.find((rule) => rule.fitsTool(tool) && (!rule.isPersonal || rule.fitsWho(who)))?.decision ?? ALLOWED,
    decideForAll(tool) {
      const first = rules.find((rule) => rule.fitsTool(tool))
      if (!first) return ALLOWED
      if (first.isPersonal) return undefined
      return first.decision
    },
    deniesServer(who, preset, server) {
      const first = rules.find((rule) => rule.fitsServer(preset, server) && (!rule.isPersonal || rule.fitsWho(who)))
      return first?.decision.action === 'deny'
    },
    getProfile: (who) => personal.map((rule) => (rule.fitsWho(who) ? '1' : '0')).join(''),
  }
}

/** Selects calls. */
export interface Selector {
  fitsWho(who: Who): boolean
  fitsTool(tool: ToolFacts): boolean
}

interface Rule extends Selector {
  readonly decision: Decision
  /** Whether the selection depends on the client. */
  readonly isPersonal: boolean
  /** Whether it selects a server as a whole. */
  fitsServer(preset: string, server: string): boolean
}

function compileRule({ action, reason, ...patterns }: RuleDefinition): Rule {
  const preset = compilePatterns(patterns.preset)
  const server = compilePatterns(patterns.server)
  const isWhole = patterns.tool === undefined && toList(patterns.annotation ?? []).length === 0
  return {
    ...compileSelector(patterns),
    decision: { action, reason },
    isPersonal: patterns.client !== undefined || patterns.user !== undefined,
    fitsServer: (inPreset, name) => isWhole && preset(inPreset) && server(name),
  }
}

export function compileSelector(patterns: Omit<RuleDefinition, 'action' | 'reason'>): Selector {
  const client = compilePatterns(patterns.client, (text) => text.toLowerCase())
  const user = compilePatterns(patterns.user)
  const preset = compilePatterns(patterns.preset)
  const server = compilePatterns(patterns.server)
  const tool = compilePatterns(patterns.tool)
  const annotations = toList(patterns.annotation ?? [])
  return {
    fitsWho: (who) => client(who.client ?? '') && user(who.user ?? ''),
    fitsTool: (facts) =>
      preset(facts.preset) &&
      server(facts.server) &&
      facts.names.some((name) => tool(`${facts.server}/${name}`) || tool(`${facts.server}/${toVisible(name)}`)) &&
      annotations.every((name) => HINTS[name](facts.annotations ?? {})),
  }
}

/** As in the protocol, a missing annotation counts as the more dangerous value. */
const HINTS: Readonly<Record<RuleAnnotation, (hints: ToolAnnotations) => boolean>> = {
  readOnly: ({ readOnlyHint }) => readOnlyHint === true,
  destructive: ({ readOnlyHint, destructiveHint }) => readOnlyHint !== true && destructiveHint !== false,
  openWorld: ({ openWorldHint }) => openWorldHint !== false,
}

/** Creates a test for texts that match one of the patterns. Without patterns, every text matches. */
function compilePatterns(
  given: string | readonly string[] | undefined,
  normalize = (text: string): string => text,
): (text: string) => boolean {
  if (given === undefined) return () => true
  const patterns = toList(given).map((pattern) => normalize(pattern).split('*'))
  return (text) => patterns.some((parts) => hasParts(normalize(text), parts))
}

export function toList<Item>(given: Item | readonly Item[]): readonly Item[] {
  if (Array.isArray(given)) return given as readonly Item[]
  return [given as Item]
}

/** Finds names in rules that do not exist: a rule with a typo protects nothing. */
export function findIdleRules(
  rules: readonly Pick<RuleDefinition, 'server' | 'tool' | 'preset'>[],
  servers: readonly string[],
  presets: readonly string[],
  what = 'A rule',
): readonly string[] {
  const describe = (kind: string, name: string): string =>
    `${what} names the ${kind} '${name}', which matches nothing in the configuration.`
  const findMissing = (kind: string, patterns: readonly string[], names: readonly string[]): readonly string[] =>
    patterns
      .filter((pattern) => pattern !== '*' && !names.some(compilePatterns(pattern)))
      .map((pattern) => describe(kind, pattern))
  return rules.flatMap(({ server = [], tool = [], preset = [] }) => [
    ...findMissing('server', toList(server), servers),
    ...findMissing(
      'server',
      toList(tool)
        .filter((pattern) => pattern.includes('/'))
        .map((pattern) => pattern.slice(0, pattern.indexOf('/'))),
      servers,
    ),
    ...findMissing('preset', toList(preset), [...presets, '']),
  ])
}

/** Says which rules and quotas of a configuration name something that it does not have. */
export function listIdleRules({ rules, quotas, presets, servers, invalid }: GatewayConfig): readonly string[] {
  const all = [...rules, ...[...presets.values()].flatMap((preset) => preset.rules ?? [])]
  const names = [...servers, ...invalid].map(({ name }) => name)
  const inPresets = Array.from(presets, ([name, { servers: shown = [], include = [], exclude = [] }]) =>
    findIdleRules([{ server: shown, tool: [...include, ...exclude] }], names, [], `The preset '${name}'`),
  )
  return [
    ...inPresets.flat(),
    ...findIdleRules(all, names, [...presets.keys()]),
    ...findIdleRules(quotas, names, [...presets.keys()], 'A quota'),
  ]
}
