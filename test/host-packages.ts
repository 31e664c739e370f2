// The packages of other people's loops are there before any test that imports them is loaded: a path that is missing once
// counts as missing for the whole run.
import { join } from 'node:path'
import { installPackages } from '../tools/install-packages.ts'

export function setup(): void {
  for (const name of ['langchain', 'mastra', 'openai-agents']) installPackages(join(import.meta.dirname, name))
}
