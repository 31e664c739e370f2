import type { ArmReport, CompareReport, CompareVerdict } from '../../../src/inspector/protocol/protocol.ts'
import { formatNumber, formatSeconds, toLabel } from '../base/format.ts'

const VERDICTS: Readonly<Record<CompareVerdict, { readonly label: string; readonly tone: string }>> = {
  'not-worse': { label: 'not worse', tone: 'good' },
  worse: { label: 'worse', tone: 'bad' },
  undecided: { label: 'undecided', tone: 'fold' },
  'no-signal': { label: 'no verdict', tone: '' },
}

/** A row for each arm: success with its interval, the difference from the base with its verdict, and what it took. */
export function Arms({ report }: { readonly report: CompareReport }) {
  const names = Object.keys(report.arms)
  return (
    <section class="pane" aria-label="Arms">
      <div class="wide-table" tabIndex={0} role="region" aria-label="Table of arms">
        <table class="arms">
          <thead>
            <tr>
              {['Arm', 'Success', `Against ${toLabel(report.base, 40)}`, 'Verdict', 'Better, worse'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              {['Missed', 'Requests', 'Tokens in', 'Seconds'].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => {
              const arm = report.arms[name]
              return arm && <Arm key={name} name={name} arm={arm} />
            })}
          </tbody>
        </table>
      </div>
      {names.flatMap((name) =>
        (report.arms[name]?.against?.reasons ?? []).map((reason) => (
          <p key={`${name} ${reason}`} class="note arm-reason">
            <strong>{toLabel(name, 60)}</strong>: {toLabel(reason, 500)}
          </p>
        )),
      )}
      {names.map((name) => {
        const arm = report.arms[name]
        return arm && <Missed key={name} name={name} arm={arm} />
      })}
    </section>
  )
}

function Arm({ name, arm }: { readonly name: string; readonly arm: ArmReport }) {
  const { against, openings, errors } = arm
  const verdict = against && VERDICTS[against.verdict]
  return (
    <tr>
      <th scope="row">
        {toLabel(name, 60)}
        {errors > 0 && <span class="chip bad">{formatNumber(errors)} errors</span>}
      </th>
      <td>
        {toPercent(arm.success)}{' '}
        <span class="note">
          {toPercent(arm.interval.low)} to {toPercent(arm.interval.high)}
        </span>
      </td>
      <td>
        {against ? (
          <>
            {toPoints(against.difference)}{' '}
            <span class="note">
              {toPoints(against.interval.low)} to {toPoints(against.interval.high)}
            </span>
          </>
        ) : (
          '–'
        )}
      </td>
      <td>
        {verdict ? <span class={`chip ${verdict.tone}`}>{verdict.label}</span> : <span class="chip">base</span>}
        {against?.verdict === 'undecided' && against.casesNeeded !== null && (
          <span class="note"> needs about {formatNumber(against.casesNeeded)} cases</span>
        )}
      </td>
      <td>{against ? `${formatNumber(against.better)}, ${formatNumber(against.worse)}` : '–'}</td>
      <td class="number">
        {openings.needed === 0 ? '–' : `${formatNumber(openings.missedInAll)} of ${formatNumber(openings.needed)}`}
      </td>
      <td class="number">{arm.requests.toFixed(1)}</td>
      <td class="number">{formatNumber(arm.inputTokens)}</td>
      <td class="number">{formatSeconds(arm.seconds.p50 * 1_000)}</td>
    </tr>
  )
}

const MOST_SECTIONS = 5

/** The sections that an arm's runs needed and did not open, most often first. */
function Missed({ name, arm: { openings } }: { readonly name: string; readonly arm: ArmReport }) {
  const sections = openings.sections.filter(({ missed }) => missed > 0).slice(0, MOST_SECTIONS)
  if (sections.length === 0) return null
  return (
    <p class="note arm-reason">
      <strong>{toLabel(name, 60)}</strong> missed{' '}
      {sections.map(({ path, missed, needed, missedInFailures, wastedUsd }, i) => (
        <span key={path}>
          {i > 0 && ', '}
          <code>{toLabel(path, 60)}</code> in {formatNumber(missed)} of {formatNumber(needed)} runs that needed it
          {missedInFailures > 0 && `, of which ${formatNumber(missedInFailures)} failed`}
          {wastedUsd !== null && wastedUsd > 0 && ` and cost $${wastedUsd.toFixed(2)}`}
        </span>
      ))}
      .
    </p>
  )
}

const toPercent = (share: number): string => `${(100 * share).toFixed(1)} %`

/** A difference of two shares. */
function toPoints(difference: number): string {
  const points = (100 * Math.abs(difference)).toFixed(1)
  if (points === '0.0') return '±0.0'
  return `${difference < 0 ? '−' : '+'}${points}`
}
