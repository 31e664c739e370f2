import { isCancel, password, select, text } from '@clack/prompts'
import type { Question } from '../../registry/server-json.ts'
import { toLine } from '../support/text.ts'

/** Asks on the terminal. Secrets are not echoed. */
export async function askQuestions(questions: readonly Question[]): Promise<ReadonlyMap<Question, string>> {
  const answers = new Map<Question, string>()
  for (const question of questions) {
    const answer = await askOne(question)
    if (typeof answer !== 'string') throw new Error('Nothing was added.')
    answers.set(question, answer)
  }
  return answers
}

async function askOne({ id, description, isSecret, choices }: Question): Promise<string | symbol> {
  const message = toLine(description === undefined ? id : `${id}: ${description}`)
  const validate = (value: string | undefined): string | undefined => {
    if (value) return undefined
    return 'The server needs a value.'
  }
  if (choices.length > 0) return select({ message, options: choices.map((value) => ({ value, label: toLine(value) })) })
  const answer = await (isSecret ? password({ message, validate }) : text({ message, validate }))
  if (isCancel(answer)) return Symbol('cancel')
  return answer
}
