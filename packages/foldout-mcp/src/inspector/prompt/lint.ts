import type { PromptCosts } from 'foldout/telemetry'
import type { FoldFinding, SectionRow } from '../protocol/protocol.ts'

/** Folding a section saves at least this many tokens in every request, or it is not worth a round trip. */
const WORTH_FOLDING = 40
/** The size from which a section without a summary deserves one, as `advise` has it. */
const LARGE = 500
const MOST_FINDINGS = 50

/** Finds sections that cost more folded than open, and those that would save most if they were folded or shown. */
export function lintFolds(rows: readonly SectionRow[], { disclosureTools }: PromptCosts): readonly FoldFinding[] {
  const tools = disclosureTools.reduce((sum, { tokens }) => sum + tokens, 0)
  const folded = rows.filter(({ state }) => state === 'folded')
  const saved = folded.reduce((sum, { ifOpen, ifFolded = 0 }) => sum + ifOpen - ifFolded, 0)
  const whole: readonly FoldFinding[] =
    folded.length > 0 && saved < tools
      ? [
          {
            kind: 'folding-costs-more',
            path: undefined,
            saves: tools - saved,
            message: `Folding costs more than it saves here: the folded sections save ${formatTokens(saved)} together, and the tools that open them take ${formatTokens(tools)}.`,
          },
        ]
      : []
  const each = rows.flatMap((row) => lintSection(row, rows)).sort((a, b) => b.saves - a.saves)
  return [...whole, ...each].slice(0, MOST_FINDINGS)
}

function lintSection(row: SectionRow, rows: readonly SectionRow[]): readonly FoldFinding[] {
  const { path, title, state, ifOpen, ifFolded, subtree } = row
  if (state === 'folded' && ifFolded !== undefined) {
    // The summary and the line that says how to open it are as long as what they stand for.
    if (ifFolded >= ifOpen) {
      const message = `“${title}” costs more folded (${formatTokens(ifFolded)}) than open (${formatTokens(ifOpen)}). Show it, or shorten its summary.`
      return [{ kind: 'costs-more-folded', path, saves: ifFolded - ifOpen, message }]
    }
    if (ifOpen - ifFolded < WORTH_FOLDING) {
      const message = `Folding “${title}” saves only ${formatTokens(ifOpen - ifFolded)} in a request, and opening it takes another request. Show it.`
      return [{ kind: 'show-cheap', path, saves: 0, message }]
    }
    return []
  }
  if (state !== 'open') return []
  if (ifFolded !== undefined) {
    const saves = subtree - ifFolded
    if (saves < WORTH_FOLDING) return []
    const message = `Folding “${title}” saves ${formatTokens(saves)} in every request that does not need it.`
    return [{ kind: 'fold', path, saves, message }]
  }
  // Folding the outer section folds what is in it.
  const isInside = rows.some((other) => path.startsWith(`${other.path}.`) && other.state === 'open')
  if (subtree < LARGE || isInside) return []
  const message = `“${title}” has no summary. With one, up to ${formatTokens(subtree)} could be folded.`
  return [{ kind: 'write-summary', path, saves: subtree, message }]
}

function formatTokens(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'token' : 'tokens'}`
}
