import type { BrokenTool, Catalog } from 'foldout/catalog'
import type { JsonObject } from 'foldout-shared/values'
import { toVisible } from '../../shared/visible.ts'
import {
  FEWEST_INSTRUCTIONS_BYTES,
  FEWEST_SKILL_BYTES,
  SKILLS_BYTES,
  INSTRUCTIONS_BYTES,
  READ_CHARACTERS,
  SERVER_INSTRUCTIONS_BYTES,
  FEWEST_NAMES_BYTES,
  MOST_NAMES_BYTES,
} from './limits.ts'

/** A server and what it says about its use, for models. */
export interface InstructingServer {
  readonly name: string
  readonly instructions: string | undefined
}

/**
 * The instructions of a gateway: the names of its servers, the user's own text, the skills, and what the servers say. A server's text is on one
 * line that begins with the server's name, so it cannot pass for the gateway's or for another server's. The same servers always give
 * the same text. Clients cut instructions, and how to find tools comes before these.
 */
export function formatInstructions(
  own: string | undefined,
  servers: readonly InstructingServer[],
  skills: readonly JsonObject[] = [],
): string {
  const others = [own, formatSkills(skills)].filter((part) => part).join('\n\n')
  const names = formatNames(servers, Math.max(FEWEST_NAMES_BYTES, MOST_NAMES_BYTES - Buffer.byteLength(others)))
  const before = [names, others].filter((part) => part).join('\n\n')
  const texts = servers.flatMap(({ name, instructions = '' }) => {
    const text = toTellingText(instructions)
    if (text === '') return []
    return [{ name, text }]
  })
  const room = INSTRUCTIONS_BYTES - Buffer.byteLength(before) - Buffer.byteLength(SAID)
  const starts = texts.reduce((sum, { name }) => sum + Buffer.byteLength(name) + LINE_BYTES, 0)
  const share = Math.min(SERVER_INSTRUCTIONS_BYTES, Math.floor((room - starts) / texts.length))
  if (texts.length === 0 || share < FEWEST_INSTRUCTIONS_BYTES) return before
  const lines = texts.map(({ name, text }) => `- ${name}: ${cut(text, share)}`)
  return [before, `${SAID}\n${lines.join('\n')}`].filter((part) => part).join('\n\n')
}

const SAID = 'The servers say about their tools:'
/** What a line has beside the name and the text. */
const LINE_BYTES = 10

/** The names of all servers, so that a model knows what there is. One server needs no list. */
function formatNames(servers: readonly InstructingServer[], room: number): string {
  if (servers.length < 2) return ''
  let left = room
  const names = servers
    .map(({ name }) => toVisible(name))
    .toSorted()
    .filter((name) => (left -= Buffer.byteLength(name) + 2) >= 0)
  const more = servers.length - names.length
  return `Servers: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

/** The names and descriptions of skills; as many as there is room for, because the rest can be listed. */
function formatSkills(skills: readonly JsonObject[]): string {
  if (skills.length === 0) return ''
  const uris = skills.map(({ uri }) => toVisible(String(uri)))
  const starts = uris.reduce((sum, uri) => sum + Buffer.byteLength(uri) + LINE_BYTES, 0)
  const share = Math.max(FEWEST_SKILL_BYTES, Math.floor((SKILLS_BYTES - starts) / skills.length))
  let left = SKILLS_BYTES
  const lines = skills.flatMap(({ description }, at) => {
    const text = typeof description === 'string' ? toVisible(description.replaceAll(/\s+/g, ' ')).trim() : ''
    const line = `- ${uris[at]}: ${cut(text, share)}`
    left -= Buffer.byteLength(line) + 1
    return left < 0 ? [] : [line]
  })
  const more = skills.length - lines.length
  if (more > 0) lines.push(`- and ${more} more`)
  return ['Skills (read the resource of one before you do such a task):', ...lines].join('\n')
}

/** Words that say nothing about what a server is for. */
const EMPTY_WORDS =
  /\b(?:the|an?|official|reference|model context protocol|mcp|servers?|tools?|integration|for|by|of)\b/gi

/** A server's title if it says more than the name, or the name. */
export function toTellingTitle(title: string | undefined, name: string): string {
  if (title === undefined) return name
  const toWords = (text: string): string =>
    text
      .replaceAll(EMPTY_WORDS, '')
      .replaceAll(/[^\p{L}\p{N}]+/gu, '')
      .toLowerCase()
  if (toWords(name).includes(toWords(title))) return name
  return title
}

/** A heading, a rule, a fence, the border of a table, or a tag. */
const EMPTY_LINE =
  /^(?:#{1,6}(?:\s|$)|[=*_-]{3,}$|\*\*[^*]+\*\*:?$|[\w -]{1,40}:$|(?:```|~~~)|[|:\s-]+$|<\/?[\w:-]+[^<>]*>$)/
/** What the text says about itself, a greeting, or what every model is told. */
const ABOUT_ITSELF =
  /^(?:audience|version|author|license|last updated|date|title|(?:this|the) (?:document|file|guide|text)|these instructions|follow (?:them|these)|welcome\b|hello\b|hi\b|thank(?:s| you)\b|you are (?:an?|the)\b)/i
/** A point of a list. */
const POINT = /^(?:[*+•-]|\d+[.)])\s/
/** What a line of a list, a quotation or a table starts with, and how it ends. */
const MARKS = /^(?:[*_>+•|-]+\s+)+|^\d+[.)]\s+|\s*\|$/g

/**
 * What a server says, on one line: without headings, marks of Markdown, tags, greetings and what it says about the text. All of it if
 * nothing else is left.
 */
function toTellingText(instructions: string): string {
  const toLine = (text: string): string => toVisible(text.replaceAll(/\s+/g, ' ')).trim()
  const lines = dropFrontMatter(instructions.slice(0, READ_CHARACTERS)).split('\n')
  let telling = ''
  for (const [i, line] of lines.map((one) => one.trim()).entries()) {
    const text = EMPTY_LINE.test(line) ? '' : toSentences(line)
    if (text === '') continue
    // Points of a list and paragraphs must not read as one sentence.
    const isNew = POINT.test(line) || (lines[i - 1] ?? '').trim() === ''
    telling += isNew && /[^\p{P}\s]$/u.test(telling) ? `; ${text}` : ` ${text}`
  }
  return toLine(telling) || toLine(lines.join(' '))
}

/** The sentences of a line, without those at its start that say nothing about tools. */
function toSentences(line: string): string {
  const plain = line
    .replaceAll(/<\/?[\w:-]{1,40}>/g, '')
    .replaceAll(MARKS, '')
    .replaceAll(/[*_]{2}/g, '')
    .trim()
  const sentences = plain.split(/(?<=[.!?])\s+/)
  const first = sentences.findIndex((sentence) => !ABOUT_ITSELF.test(sentence))
  if (first === -1) return ''
  return sentences.slice(first).join(' ')
}

function dropFrontMatter(text: string): string {
  return text.replace(/^\s*---\n[\s\S]*?\n---(?=\n|$)/, '')
}

/** As many whole words of a text as have this many bytes. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  let left = bytes
  let end = 0
  for (const character of text) {
    left -= Buffer.byteLength(character)
    if (left < 0) break
    end += character.length
  }
  const start = text.slice(0, end)
  const space = start.lastIndexOf(' ')
  // A language without spaces is cut anywhere.
  return `${(space > end / 2 ? start.slice(0, space) : start).trimEnd()} …`
}

/** Reports tools that clients do not see because something is wrong with their definitions, once each. */
export function createBrokenReport(
  catalog: Pick<Catalog, 'broken'>,
  onBroken: (server: string, tools: readonly BrokenTool[]) => void,
): () => void {
  /** How often each was reported: several without a name look the same. */
  const known = new Map<string, number>()
  return () => {
    const news = new Map<string, BrokenTool[]>()
    const seen = new Map<string, number>()
    for (const tool of catalog.broken) {
      const id = JSON.stringify(tool)
      const times = (seen.get(id) ?? 0) + 1
      seen.set(id, times)
      if (times <= (known.get(id) ?? 0)) continue
      known.set(id, times)
      // Every tool of a gateway comes from a server.
      const server = tool.source ?? ''
      const same = news.get(server)
      if (same) same.push(tool)
      else news.set(server, [tool])
    }
    for (const [server, tools] of news) onBroken(server, tools)
  }
}
