import { CUT_MARGIN } from '../../policy/secrets/limits.ts'
import { hideEnd, hideStart } from '../../policy/secrets/cut.ts'
import {
  KEPT_ERROR_CHARACTERS,
  KEPT_ERROR_LINES,
  KEPT_STDERR_CHARACTERS,
  KEPT_STDERR_LINES,
  SCANNED_LINE_CHARACTERS,
} from './limits.ts'

/** A line without a word of these says nothing about a failure, and this check is faster than the others. */
const MAY_TELL =
  /err|except|panic|fatal|critical|traceback|cannot|can't|can’t|could not|unable|not found|no such|fail|fault|unhandled|uncaught|denied|missing|required|invalid|×|\*\* \(/i

/** Lines in which programs say why they fail: Node.js, Python, Java, .NET, Rust, Go, Ruby, PHP, npm, uv, docker, shells and loggers. */
const TELLING: readonly RegExp[] = [
  /(?:^|[\s(>])[\w$.:\\]*(?:Error|Exception|ExceptionGroup)(?: \[[\w.-]+\])?: /,
  /^\s*[\w$.:]*(?:Error|Exception)$/,
  /^npm (?:error|ERR!) (?!(?:A complete log|path |errno |syscall |dest ))/,
  /(?:^|[:\]\s])\s*(?:fatal |parse |runtime )?error(?:\[\w+\])?: /i,
  /\bError response from\b|\berror (?:during connect|while loading)\b/,
  /\bpanicked at\b|\bpanic(?:\(\w*\))?: |\bfatal error\b|\bFATAL ERROR\b/i,
  /\b(?:Unhandled|Uncaught) |\bException in thread\b|^Caused by: /i,
  /\bCannot (?:find|connect|open|load|access)\b|\bCan't (?:locate|open|find)\b|\bCould not (?:find|load|open|connect)\b/i,
  /: (?:command )?not found$|: No such file or directory|: Permission denied$/i,
  /\((?:[\w:]*(?:Error|Exception))\)$|^\*\* \(/,
  /^\s*×\s|\bSegmentation fault\b|\bAssertion .*failed\b|\bNo module named\b/i,
  /\[(?:error|fatal|critical)\]|\b(?:ERROR|FATAL|CRITICAL)\b|"level":\s*"(?:error|fatal)"|\blevel=(?:error|fatal)\b/,
]
const HINTING =
  /\b(?:error|exception|failed|failure|fatal|denied|missing|required|invalid|not found|unable to|cannot|could not|must)\b/i
const TRACEBACK = /^([\s|]*)Traceback \(most recent call last\):/
/** The message of a panic in Rust is in the next line. */
const MESSAGE_FOLLOWS = /\bpanicked at .*:$/

/**
 * What a server wrote to standard error: its last lines, and the lines before them that say why it failed. Those are often followed
 * by more lines of a stack than can be shown.
 */
export class Complaint {
  readonly #hide: (text: string) => string
  #end = ''
  /** The start of a line whose end has not arrived. */
  #line = ''
  #isLongLine = false
  #first: string[] = []
  #latest: string[] = []
  #hint: string | undefined
  /** What the line that ends a traceback of Python starts with. */
  #margin: string | undefined
  #isMessageNext = false

  constructor(hide: (text: string) => string) {
    this.#hide = hide
  }

  hear(text: string): void {
    this.#end = `${this.#end}${text}`.slice(-KEPT_STDERR_CHARACTERS - CUT_MARGIN)
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#append(text.slice(start, end))
      this.#read(this.#line.trimEnd())
      this.#line = ''
      this.#isLongLine = false
      start = end + 1
    }
    this.#append(text.slice(start))
  }

  /** The text for people, without secrets. Redacted before it is cut, because half a secret would not be recognized. */
  toText(): string {
    const end = hideEnd(this.#end, KEPT_STDERR_CHARACTERS, this.#hide).trim()
    const last = end === '' ? [] : end.split('\n').slice(-KEPT_STDERR_LINES)
    const found = [...this.#first, ...this.#latest]
    const telling = found.length > 0 || this.#hint === undefined ? found : [this.#hint]
    const lost = telling
      .map((line) => hideStart(line, KEPT_ERROR_CHARACTERS, this.#hide).trim())
      .filter((line, at, all) => all.indexOf(line) === at && !last.some((shown) => shown.trim().startsWith(line)))
    if (lost.length === 0) return last.join('\n')
    return [...lost, '…', ...last].join('\n')
  }

  /** Of a long line, such as the code of a bundle, only the start is of interest. */
  #append(part: string): void {
    if (this.#isLongLine) return
    this.#line += part.slice(0, SCANNED_LINE_CHARACTERS)
    if (this.#line.length < SCANNED_LINE_CHARACTERS) return
    this.#line = this.#line.slice(0, SCANNED_LINE_CHARACTERS)
    this.#isLongLine = true
  }

  #read(line: string): void {
    if (line.trim() === '') return
    if (this.#endsTraceback(line) || this.#isMessageNext) {
      this.#isMessageNext = false
      this.#keep(line)
      return
    }
    const margin = TRACEBACK.exec(line)?.[1]
    if (margin !== undefined) this.#margin = margin
    // The code of a long line may mention anything.
    if (margin !== undefined || !MAY_TELL.test(line)) return
    const start = line.slice(0, KEPT_ERROR_CHARACTERS)
    if (TELLING.some((pattern) => pattern.test(start))) {
      this.#isMessageNext = MESSAGE_FOLLOWS.test(start)
      this.#keep(line)
    } else if (HINTING.test(start)) this.#hint ??= line
  }

  #endsTraceback(line: string): boolean {
    const margin = this.#margin
    if (margin === undefined || !line.startsWith(margin) || /^\s/.test(line.slice(margin.length))) return false
    this.#margin = undefined
    return true
  }

  /** Keeps the first lines, which usually name the cause, and the latest: a server may have gone on after an error. */
  #keep(line: string): void {
    if (this.#first.length < KEPT_ERROR_LINES) this.#first.push(line)
    else this.#latest = [...this.#latest, line].slice(-KEPT_ERROR_LINES)
  }
}
