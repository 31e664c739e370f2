import type { FoldedSection } from './strategy.ts'

export function readSuffix({ path }: FoldedSection): string {
  return `[This section is summarized. To view full content, call \`read_section\` with key "${path}".]`
}

export function openSuffix(section: FoldedSection): string {
  return describeWithChildren(section, 'open_sections')
}

export function readSuffixWithChildren(section: FoldedSection): string {
  return describeWithChildren(section, 'read_section')
}

function describeWithChildren({ path, childKeys }: FoldedSection, tool: string): string {
  if (childKeys.length === 0)
    return `[This section is summarized. To view full content, call \`${tool}\` with key "${path}".]`
  return `[This section is summarized. Call \`${tool}\` with key "${path}" to view full content including subsections: ${childKeys.join(', ')}.]`
}

/** Says how to open a section of which the model sees only a line, a heading, a name or a count. */
export function describeHowToFind(tool: string, isSearchable: boolean): string {
  if (!isSearchable) return `Call \`${tool}\` with a key to view the full content.`
  return `Call \`${tool}\` with a key, or with a \`query\` to find what you need by what it says.`
}
