import { measureInstalled } from '../../tools/installed.ts'
import { goal, type Goal } from '../report.ts'
import type { Transport } from './contenders.ts'
import type { Measured } from './gateway.ts'

const MAX_ADDED_MS = 0.25
const MAX_START_RATIO = 0.5
const MAX_HTTP_RATIO = 0.5
const MAX_GROWTH_MB = 10
/** What rules, checks and folded results may cost, compared with a gateway that does nothing. */
const MAX_RELAY_RATIO = 1.25
const MAX_PACKAGES = 25
const MAX_INSTALLED_MB = 30

/** For this gateway, the slowest of its exposures counts; for others, the fastest. */
export function getGoals(measured: readonly Measured[]): readonly Goal[] {
  const stdio = createComparison(measured, 'stdio')
  const http = createComparison(measured, 'http')
  const all = createComparison(measured)
  const { folders, bytes } = measureInstalled('foldout-mcp')
  const direct = measured.find(({ contender }) => contender.kind === 'direct' && contender.transport === 'stdio')
  return [
    goal('stdio: p50 to the bare relay', stdio.getRatio('p50Ms', 'relay'), '<=', MAX_RELAY_RATIO),
    goal('http: p50 to the bare relay', http.getRatio('p50Ms', 'relay'), '<=', MAX_RELAY_RATIO),
    goal('stdio: p50 to the best gateway', stdio.getRatio('p50Ms'), '<=', 1),
    goal('stdio: p99 to the best gateway', stdio.getRatio('p99Ms'), '<=', 1),
    goal('stdio: ms that p50 is over the server', stdio.getOwn('p50Ms') - (direct?.p50Ms ?? NaN), '<=', MAX_ADDED_MS),
    goal('http: p50 to the best gateway', http.getRatio('p50Ms'), '<=', MAX_HTTP_RATIO),
    goal('http: p99 to the best gateway', http.getRatio('p99Ms'), '<=', 1),
    goal('cached start to the fastest gateway', all.getRatio('cachedStartMs'), '<=', MAX_START_RATIO),
    goal('idle memory to the smallest gateway', all.getRatio('idleMb'), '<', 1),
    goal('MB more after 20,000 calls', all.getOwn('growthMb'), '<', MAX_GROWTH_MB),
    goal('packages that npx foldout-mcp installs', folders.length, '<=', MAX_PACKAGES),
    goal('MB that npx foldout-mcp installs', bytes / 1e6, '<=', MAX_INSTALLED_MB),
  ]
}

type Figure = 'p50Ms' | 'p99Ms' | 'cachedStartMs' | 'idleMb' | 'growthMb'

interface Comparison {
  getOwn(figure: Figure): number
  /** To the best of the other gateways, or to the bare relay. */
  getRatio(figure: Figure, to?: 'peer' | 'relay'): number
}

function createComparison(measured: readonly Measured[], transport?: Transport): Comparison {
  const collect = (kind: 'foldout' | 'peer' | 'relay', figure: Figure): readonly number[] =>
    measured
      .filter(({ contender }) => contender.kind === kind && (!transport || contender.transport === transport))
      .flatMap((one) => read(one, figure) ?? [])
  const getOwn = (figure: Figure): number => Math.max(...collect('foldout', figure))
  return { getOwn, getRatio: (figure, to = 'peer') => getOwn(figure) / Math.min(...collect(to, figure)) }
}

function read({ memory, ...others }: Measured, figure: Figure): number | undefined {
  if (figure === 'idleMb') return memory?.idleMb
  if (figure === 'growthMb') return memory && memory.afterMb - memory.warmMb
  return others[figure]
}
