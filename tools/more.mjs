// What is needed now and then: `npm run more` lists it, and `npm run more -- wine doctor` runs one with its arguments.
import { spawnSync } from 'node:child_process'
import { repository } from './packages.mjs'

const BUILD = 'node tools/build.mjs'
const WHOLE =
  'test/browser packages/foldout/src/catalog/exposures/code/attempts packages/foldout/src/session/stores/libsql/kill.integration.test.ts packages/foldout/src/mcp/serve/http/load.integration.test.ts'

/** The commands of each name, and what it does. */
const TASKS = {
  all: [
    'every test there is',
    'npm test',
    'npm run -s test:integration',
    'npm run -s more -- whole',
    'npm run -s doors',
    'npm run -s conformance',
    'npm run -s clients',
  ],
  whole: ['runs in full what the other tests run a sample of', BUILD, `vitest run ${WHOLE} --mode whole`],
  browser: ["tests the inspector's page in a real browser", BUILD, 'vitest run test/browser --mode whole'],
  slow: ['lists the slowest test files of the last run', 'node tools/slow-tests.mjs'],
  format: ['formats everything', 'oxfmt .'],
  requirements: ['lists every requirement with its tests', 'tsx tools/requirements.ts'],
  screenshots: ['makes the pictures of the inspector', BUILD, 'tsx tools/screenshots.ts'],
  wine: ['runs the command with the Node.js of Windows, in Wine', BUILD, 'node tools/wine.mjs'],
}

const [name = '', ...args] = process.argv.slice(2)
if (Object.hasOwn(TASKS, name)) run(TASKS[name].slice(1))
else {
  const lines = Object.entries(TASKS).map(([task, [purpose]]) => `  ${task.padEnd(14)}${purpose}`)
  console.error([`${name === '' ? 'Name' : `There is no '${name}'. Name`} what to run:`, ...lines].join('\n'))
  process.exitCode = name === '' ? 0 : 2
}

/** Runs the commands one after another until one fails. The last gets the arguments. */
function run(commands) {
  for (const [at, command] of commands.entries()) {
    const [program, ...given] = command.split(' ')
    const all = at === commands.length - 1 ? [...given, ...args] : given
    const { status } = spawnSync(program, all, { cwd: repository, stdio: 'inherit' })
    if (status === 0) continue
    process.exitCode = status ?? 1
    return
  }
}
