import type { FoldedSection } from './strategy.ts'

export function readSuffix({ path }: FoldedSection): string {
  return `[This section is summarized. To view full content, call \`read_section\` with key "${path}".]`
}

export function openSuffix({ path, childKeys }: FoldedSection): string {
  return childKeys.length === 0
    ? `[This section is summarized. To view full content, call \`open_sections\` with key "${path}".]`
    : `[This section is summarized. Call \`open_sections\` with key "${path}" to view full content including subsections: ${childKeys.join(', ')}.]`
}
