import { readReport } from '../../../adapters/anthropic/usage.ts'
import { isObject } from 'foldout-shared/values'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { HostReport } from '../core/contract.ts'

/** Reports the requests and replies of a query by the messages that it streams. */
export interface MessageWatch {
  /** A call of the current reply begins: it may come before the message with the reply. */
  begins(): void
  onMessage(message: object): void
}

interface WatchOptions {
  readonly prompt: RenderedPrompt
  readonly getTools: () => readonly { readonly name: string }[]
}

export function watchMessages(report: HostReport, { prompt, getTools }: WatchOptions): MessageWatch {
  let isAsked = false
  let messages = 1
  let usage: Readonly<Record<string, unknown>> = {}
  let text = ''
  const begins = (): void => {
    if (isAsked) return
    isAsked = true
    report.sent({ prompt, messages, tools: getTools().map(({ name }) => name) })
  }
  const ends = (): void => {
    if (isAsked) report.replied({ text, usage: readReport(usage) })
    isAsked = false
    text = ''
    usage = {}
  }
  return {
    begins,
    onMessage(message) {
      if (!report.isOn) return
      const { type, parent_tool_use_id: parent, message: inner, is_error: isError } = message as Record<string, unknown>
      // Subagents have conversations of their own.
      if (parent !== null && parent !== undefined) return
      if (type === 'assistant' && isObject(inner)) {
        begins()
        if (isObject(inner['usage'])) usage = inner['usage']
        text += readText(inner['content'])
      }
      if (type === 'user') {
        ends()
        messages += 2
      }
      if (type !== 'result') return
      ends()
      if (isError === true) report.failed(new Error('The query failed.'))
      else report.finished('completed')
    },
  }
}

function readText(content: unknown): string {
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : []
  return blocks
    .flatMap((block) => (isObject(block) && typeof block['text'] === 'string' ? [block['text']] : []))
    .join('')
}
