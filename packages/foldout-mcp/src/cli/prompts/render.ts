import { formatNumber } from 'foldout-shared/numbers'
import type { RenderedPrompt } from 'foldout'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { createStyler, formatBar, formatTable, toLine, wrapWhole } from '../support/text.ts'
import { STRATEGIES, type StrategyName } from '../../inspector/protocol/protocol.ts'
import { createStrategy, loadPrompt, type ValueOptions } from '../support/prompt-module.ts'
import { checkPaths, measureSections, toVisibility } from './sections.ts'

export interface RenderPromptOptions extends ValueOptions {
  /** The paths of sections to open. */
  readonly open?: readonly string[]
  readonly strategy?: StrategyName
  readonly json?: boolean
}

/** `foldout render <module>`: shows a prompt as a model sees it, before and after opening sections. Returns the exit code. */
export async function renderPrompt(
  module: string,
  options: RenderPromptOptions,
  surroundings: Surroundings,
): Promise<number> {
  const { bound, library } = await loadPrompt(module, options)
  const { open = [], strategy } = options
  const rendering = strategy === undefined ? {} : { disclosure: createStrategy(strategy, library) }
  const full = measureSections(bound, rendering)
  const before = describeRender(bound.render(rendering), full)
  checkPaths(open, full)
  const after =
    open.length === 0 ? undefined : describeRender(bound.render({ ...rendering, visibility: toVisibility(open) }), full)
  const { ns, key } = bound.prompt
  const name = `${ns}/${key}`
  const { stdout } = surroundings
  if (options.json) stdout.write(`${JSON.stringify({ prompt: name, opened: open, before, after }, null, 2)}\n`)
  else stdout.write(formatAll({ name, open, before, after }, surroundings))
  return EXIT.done
}

interface DescribedRender {
  readonly text: string
  readonly strategy: string
  readonly tokens: RenderedPrompt['tokens']
  readonly tokensIfAllOpen: RenderedPrompt['tokensIfAllOpen']
  readonly sections: readonly DescribedSection[]
  readonly tools: readonly string[]
}

interface DescribedSection {
  readonly path: string
  readonly number: string
  readonly depth: number
  readonly visibility: string
  readonly tokens: number
  /** Its tokens when it is open. */
  readonly fullTokens: number
  readonly tools: readonly string[]
}

function describeRender(rendered: RenderedPrompt, full: ReadonlyMap<string, number>): DescribedRender {
  const { text, tokens, tokensIfAllOpen, nodes, tools, disclosure } = rendered
  return {
    text,
    strategy: toOptionName(disclosure.name),
    tokens,
    tokensIfAllOpen,
    tools: tools.map((tool) => tool.name),
    sections: nodes.map((node) => ({
      path: node.path,
      number: node.number,
      depth: node.depth,
      visibility: node.visibility,
      tokens: node.tokens,
      fullTokens: full.get(node.path) ?? node.tokens,
      tools: node.tools.map((tool) => tool.name),
    })),
  }
}

/** The name of a strategy as `--strategy` spells it: `read-section` for `readSection`. Others keep their names. */
function toOptionName(name: string): string {
  return STRATEGIES.find((option) => option.replaceAll('-', '') === name.toLowerCase()) ?? name
}

interface Views {
  readonly name: string
  readonly open: readonly string[]
  readonly before: DescribedRender
  readonly after: DescribedRender | undefined
}

function formatAll({ name, open, before, after }: Views, { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const title = (text: string): string => style('bold', `━━ ${toLine(text)} ━━`)
  const format = (heading: string, view: DescribedRender): readonly string[] => [
    title(heading),
    '',
    toPrintable(view.text),
    '',
    ...formatTree(view, stdout.columns),
  ]
  const parts = format(name, before)
  if (after === undefined) return `${parts.join('\n')}\n`
  return `${[...parts, '', ...format(`${name} after opening ${open.join(', ')}`, after)].join('\n')}\n`
}

/** The prompt's text, line by line, without anything that could control a terminal. */
function toPrintable(text: string): string {
  return text
    .split('\n')
    .map((line) => `${/^\s*/.exec(line)?.[0].replaceAll(/[^ ]/g, ' ') ?? ''}${toLine(line)}`)
    .join('\n')
}

function formatTree(view: DescribedRender, columns: number | undefined): readonly string[] {
  const { sections, tokens, tokensIfAllOpen, tools, strategy } = view
  const largest = Math.max(1, ...sections.map(({ fullTokens }) => fullTokens))
  const rows = sections.map((section) => {
    const { path, number, depth, visibility, fullTokens } = section
    const name = `${'  '.repeat(depth)}${number} ${path}`
    const folded = visibility === 'summary' ? `folded; ${formatNumber(fullTokens)} when open` : 'open'
    const names = section.tools.length === 0 ? '' : `; tools: ${section.tools.join(', ')}`
    return [
      toLine(name).padStart(name.length),
      formatNumber(section.tokens).padStart(6),
      formatBar(section.tokens / largest, 10),
      toLine(`${folded}${names}`),
    ]
  })
  const exact = tokens.exact ? `counted by ${tokens.counter}` : 'estimated'
  return [
    ...formatTable(rows, columns),
    '',
    ...wrapWhole(
      `${formatNumber(tokens.total)} tokens (${formatNumber(tokens.text)} of text, ${formatNumber(tokens.tools)} of tools), ${formatNumber(tokensIfAllOpen.total)} if all sections were open; ${toLine(exact)}, strategy ${toLine(strategy)}`,
      columns,
    ),
    ...wrapWhole(`tools: ${toLine(tools.join(', ')) || 'none'}`, columns),
  ]
}
