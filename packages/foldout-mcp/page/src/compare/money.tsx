import { useState } from 'preact/hooks'
import type { ArmReport, CompareReport } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, toLabel } from '../base/format.ts'

const DEFAULT_TTL = 300
const HOUR = 3_600
/** The slider has a step for each. */
const TRAFFICS = [0, 1, 2, 5, 10, 20, 40, 80, 150, 300, 600, 1_200] as const

/** What each arm costs: with a cold and a warm cache, and at the traffic that the reader chooses. */
export function Money({ report }: { readonly report: CompareReport }) {
  const { arms, base, perHour, prices } = report
  const [step, setStep] = useState(() => findStep(perHour ?? 40))
  const rate = TRAFFICS[step] ?? 0
  if (!prices || Object.values(arms).every(({ money }) => money === null))
    return (
      <section class="pane compare-money" aria-label="Money">
        <h2>Money</h2>
        <p class="note">Pass prices to see what each arm costs.</p>
      </section>
    )
  const ttl = prices.ttl ?? DEFAULT_TTL
  const reference = arms[base] && getCosts(arms[base], rate, ttl)
  return (
    <section class="pane compare-money" aria-label="Money">
      <header class="pane-head">
        <h2>Dollars for 1,000 runs</h2>
        <label class="traffic">
          <input
            type="range"
            min={0}
            max={TRAFFICS.length - 1}
            step={1}
            value={step}
            aria-label="Conversations an hour"
            aria-valuetext={`${rate} conversations an hour`}
            onInput={({ currentTarget }) => setStep(Number(currentTarget.value))}
          />
          <output>{formatNumber(rate)} conversations an hour</output>
        </label>
      </header>
      <div class="wide-table" tabIndex={0} role="region" aria-label="Table of costs">
        <table>
          <thead>
            <tr>
              <th scope="col">Arm</th>
              {['Cold cache', 'Warm cache', `At ${formatNumber(rate)} an hour`, 'For 1,000 successes'].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.entries(arms).map(([name, arm]) => {
              const costs = getCosts(arm, rate, ttl)
              if (!costs) return null
              return (
                <tr key={name}>
                  <th scope="row">{toLabel(name, 60)}</th>
                  <Cost usd={costs.cold} of={reference?.cold} />
                  <Cost usd={costs.warm} of={reference?.warm} />
                  <Cost usd={costs.atTraffic} of={reference?.atTraffic} />
                  <Cost usd={costs.forSuccess} of={reference?.forSuccess} />
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      <p class="note compare-cache">
        The runs are billed again: an experiment is always warm. The cache keeps at least{' '}
        {formatNumber(prices.minimum ?? 1_024)} tokens for {formatNumber(ttl)} seconds. A token costs ${prices.input}{' '}
        per million to send, ${prices.read ?? prices.input} to read from the cache, ${prices.write ?? prices.input} to
        write to it, and ${prices.output} to receive.
      </p>
    </section>
  )
}

function findStep(perHour: number): number {
  const at = TRAFFICS.findIndex((rate) => rate >= perHour)
  if (at === -1) return TRAFFICS.length - 1
  return at
}

interface Costs {
  readonly cold: number
  readonly warm: number
  readonly atTraffic: number
  /** At the traffic; undefined if no run passed. */
  readonly forSuccess: number | undefined
}

function getCosts({ money }: ArmReport, perHour: number, ttl: number): Costs | undefined {
  if (!money) return undefined
  const { usd, usdPerSuccess, share } = money
  // How likely an earlier conversation has put the beginning into the cache.
  const warmth = 1 - Math.exp((-perHour * share * ttl) / HOUR)
  const at = (cost: { readonly cold: number; readonly warm: number }): number =>
    warmth * cost.warm + (1 - warmth) * cost.cold
  return {
    cold: usd.cold,
    warm: usd.warm,
    atTraffic: at(usd),
    forSuccess: usdPerSuccess ? at(usdPerSuccess) : undefined,
  }
}

function Cost({ usd, of }: { readonly usd: number | undefined; readonly of: number | undefined }) {
  if (usd === undefined) return <td class="number">–</td>
  const ratio = of === undefined || of === 0 || usd === of ? undefined : Math.round((100 * usd) / of) - 100
  return (
    <td class="number">
      {(usd * 1_000).toFixed(2)}
      {ratio !== undefined && <span class="note"> {ratio < 0 ? `−${-ratio}` : `+${ratio}`} %</span>}
    </td>
  )
}
