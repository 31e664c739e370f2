// Writes the JSON Schemas of the providers' request bodies, generated from the types of their SDKs. To run it:
// npm install --prefix test/providers/generator && node tools/wire-schemas.mjs
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const providers = fileURLToPath(new URL('../test/providers', import.meta.url))
// The generator needs a TypeScript version with a JavaScript API, which the repository's own version does not have.
const { createGenerator } = createRequire(`${providers}/generator/`)('ts-json-schema-generator')

const BODIES = {
  'openai-chat': 'OpenAIChat',
  'openai-responses': 'OpenAIResponses',
  'anthropic-messages': 'AnthropicMessages',
}

for (const [name, type] of Object.entries(BODIES)) {
  const schema = createGenerator({
    path: `${providers}/generator/request-bodies.ts`,
    tsconfig: `${providers}/generator/tsconfig.json`,
    type,
    topRef: false,
    jsDoc: 'none',
    additionalProperties: false,
    skipTypeCheck: true,
  }).createSchema(type)
  writeFileSync(`${providers}/wire-schemas/${name}.json`, `${JSON.stringify(schema)}\n`)
}

const formatter = fileURLToPath(new URL('../node_modules/.bin/oxfmt', import.meta.url))
const { status } = spawnSync(formatter, [`${providers}/wire-schemas`], { stdio: 'inherit' })
process.exit(status ?? 1)
