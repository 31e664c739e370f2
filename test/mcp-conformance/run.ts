import { install, runClientScenarios, runExtensions, runSuite, SUITES, type Check, type Suite } from './suite.ts'
import { defineFullServer, openCatalog, openFullServer, openGateway, openSkills, type Target } from './targets.ts'

/** Checks for features beyond a catalog and sections, by the beginning of the check's name. */
const CANNOT_APPLY: Readonly<Record<string, string>> = {
  'logging-set-level': 'tools of a catalog write no logs to clients',
  'tools-call-with-logging': 'tools of a catalog write no logs to clients',
  'completion-complete': 'the prompt has no arguments to complete',
  'tools-call-sampling': 'tools of a catalog ask clients nothing',
  'tools-call-elicitation': 'tools of a catalog ask clients nothing',
  'elicitation-': 'tools of a catalog ask clients nothing',
  'input-required-result-': 'tools of a catalog ask clients nothing',
  'server-stateless/sep-2575-server-rejects-undeclared-capability': 'tools of a catalog ask clients nothing',
  'server-stateless/sep-2575-missing-capability-http-400': 'tools of a catalog ask clients nothing',
  'resources-read-': 'resources are sections; the suite asks for its own',
  'resources-templates-read': 'resources are sections; the suite asks for its own',
  'resources-subscribe': 'resources are sections; the suite asks for its own',
  'resources-unsubscribe': 'resources are sections; the suite asks for its own',
  'prompts-get-with-': 'there is one prompt; the suite asks for its own',
  'prompts-get-embedded-resource': 'there is one prompt; the suite asks for its own',
  'tasks-': 'an extension that is not served',
  'http-custom-header-server-validation': 'no tool asks for headers of its own',
}

interface Score {
  readonly server: string
  readonly spec: string
  readonly passed: number
  readonly failed: number
  readonly cannotApply: number
  readonly failures: readonly string[]
}

/** The checks that a catalog must pass. */
function scoreCatalog(spec: string, checks: readonly Check[]): Score {
  const isExcused = ({ name }: Check): boolean => Object.keys(CANNOT_APPLY).some((start) => name.startsWith(start))
  return toScore('a catalog', spec, checks, isExcused)
}

/** The full server itself: everything it passes must also pass through the gateway. Its SDK does not have the tasks extension. */
function scoreFullServer(spec: string, checks: readonly Check[]): Score {
  return toScore('the full server', spec, checks, ({ name }) => name.startsWith('tasks-'))
}

/** Everything that passes without the gateway must pass with it. */
function scoreGateway(server: string, spec: string, checks: readonly Check[], direct: readonly Check[]): Score {
  const wanted = new Map<string, number>()
  for (const { name, status } of direct) if (status === 'passed') wanted.set(name, (wanted.get(name) ?? 0) + 1)
  const score = toScore(server, spec, checks, ({ name }) => !wanted.has(name))
  for (const { name, status } of checks) if (status === 'passed') wanted.set(name, (wanted.get(name) ?? 0) - 1)
  const missing = [...wanted].filter(
    ([name, left]) => left > 0 && !score.failures.some((text) => text.startsWith(name)),
  )
  const failures = [
    ...score.failures,
    ...missing.map(([name]) => `${name}: was checked less often than without the gateway`),
  ]
  return { ...score, failures, failed: failures.length }
}

function toScore(server: string, spec: string, checks: readonly Check[], isExcused: (check: Check) => boolean): Score {
  const failed = checks.filter(({ status }) => status === 'failed')
  const failures = failed.filter((check) => !isExcused(check)).map(({ name, message }) => `${name}: ${message}`)
  return {
    server,
    spec,
    passed: checks.length - failed.length,
    failed: failures.length,
    cannotApply: failed.length - failures.length,
    failures,
  }
}

async function withTarget<Result>(opening: Promise<Target>, work: (url: string) => Promise<Result>): Promise<Result> {
  const target = await opening
  try {
    return await work(target.url)
  } finally {
    await target.close()
  }
}

async function scoreSuite(suite: Suite): Promise<readonly Score[]> {
  const { spec, era } = suite
  const catalog = await withTarget(openCatalog(), async (url) => ({
    direct: await runSuite(url, suite),
    through: await withTarget(openGateway({ url }), (gateway) => runSuite(gateway, suite)),
  }))
  const overHttp = await withTarget(openFullServer('both'), async (url) => ({
    direct: await runSuite(url, suite),
    through: await withTarget(openGateway({ url }), (gateway) => runSuite(gateway, suite)),
  }))
  const overStdio = await withTarget(openGateway(defineFullServer(era)), (url) => runSuite(url, suite))
  const skills = await withTarget(openSkills(), (url) => runExtensions(url, suite))
  return [
    toScore('skills of the gateway', spec, skills, () => false),
    scoreCatalog(spec, catalog.direct),
    scoreGateway('the gateway, in front of the catalog', spec, catalog.through, catalog.direct),
    scoreFullServer(spec, overHttp.direct),
    scoreGateway('the gateway, over HTTP', spec, overHttp.through, overHttp.direct),
    scoreGateway('the gateway, over stdio', spec, overStdio, overHttp.direct),
  ]
}

install()
const rows: Score[] = []
for (const suite of SUITES) rows.push(...(await scoreSuite(suite)))
rows.push(toScore('our client', 'extensions', await runClientScenarios(), () => false))

const goals = rows.map(({ server, spec, passed, failed }) => ({
  name: `failed checks of ${spec}, ${server}`,
  value: failed,
  goal: 0,
  met: failed === 0 && passed > 0,
}))
const print = (line: string): unknown => process.stdout.write(`${line}\n`)
for (const { server, spec, passed, failed, cannotApply, failures } of rows) {
  print(`${spec}, ${server}: ${passed} passed, ${failed} failed, ${cannotApply} cannot apply`)
  for (const failure of failures) print(`  ${failure}`)
}
if (process.argv.includes('--json')) print(JSON.stringify({ bench: 'mcp-conformance', rows, goals }))
process.exitCode = goals.every(({ met }) => met) ? 0 : 1
