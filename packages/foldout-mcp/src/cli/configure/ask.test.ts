import { expect, it, vi } from 'vitest'
import { UsageError } from '../../gateway/config/config.ts'
import { askQuestions } from './ask.ts'

vi.mock('@clack/prompts', () => ({
  text: async () => Symbol('cancel'),
  isCancel: (it: unknown) => typeof it === 'symbol',
}))

it('ends a command that is interrupted at a question like any other that is interrupted', async () => {
  const question = {
    id: 'folder',
    kind: 'argument',
    description: undefined,
    isRequired: true,
    isSecret: false,
    choices: [],
    fallback: undefined,
    isRepeatable: false,
  } as const
  const error: unknown = await askQuestions([question]).catch((thrown: unknown) => thrown)
  expect(error).toEqual(new Error('Nothing was added.'))
  // That would be a mistake in the command line.
  expect(error).not.toBeInstanceOf(UsageError)
})
