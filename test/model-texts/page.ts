/** A page for people to read: headings, with the texts as quotes. */
export interface Page {
  heading(text: string): void
  /** One text that a model reads, and when. */
  text(when: string, text: string): void
  toString(): string
}

export function createPage(title: string): Page {
  const lines: string[] = [`# ${title}`]
  return {
    heading: (text) => void lines.push('', `## ${text}`),
    text(when, text) {
      lines.push('', `**${when}**`, '', ...text.split('\n').map((line) => (line === '' ? '>' : `> ${line}`)))
    },
    toString: () => `${lines.join('\n')}\n`,
  }
}
