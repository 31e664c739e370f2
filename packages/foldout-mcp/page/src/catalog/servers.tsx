import { formatCount } from 'foldout-shared/numbers'
import type { CatalogView, ServerRow } from '../../../src/inspector/protocol/protocol.ts'
import { formatClock, formatNumber, toLabel } from '../base/format.ts'

const STATES: Readonly<Record<ServerRow['state'], { readonly label: string; readonly tone: string }>> = {
  running: { label: 'running', tone: 'good' },
  starting: { label: 'starting', tone: 'accent' },
  stopped: { label: 'starts when needed', tone: '' },
  failed: { label: 'failed', tone: 'bad' },
}

/** The health of each server, and the tools that cannot be used. */
export function Servers({ shown }: { readonly shown: CatalogView }) {
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Tools
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.servers.map((server) => (
            <Health key={server.name} server={server} />
          ))}
        </tbody>
      </table>
      {shown.broken.length > 0 && (
        <table>
          <caption>Tools that cannot be used</caption>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col">Server</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {shown.broken.map(({ server, name, reason }, i) => (
              <tr key={i}>
                <th scope="row">
                  <code>{toLabel(name)}</code>
                </th>
                <td>{toLabel(server)}</td>
                <td>{toLabel(reason, 1_000)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}

function Health({ server }: { readonly server: ServerRow }) {
  const { name, state, reason, tools, tokens } = server
  const next = describeNext(server)
  return (
    <tr>
      <th scope="row">
        <bdi>{toLabel(name)}</bdi>
        {reason !== undefined && <span class="note reason">{toLabel(reason, 2_000)}</span>}
        {next !== '' && <span class="note">{next}</span>}
      </th>
      <td>
        <span class={`chip ${STATES[state].tone}`}>{STATES[state].label}</span>
      </td>
      <td class="number">{tools === undefined ? '–' : formatNumber(tools)}</td>
      <td class="number">{formatNumber(tokens)}</td>
    </tr>
  )
}

/** What it is doing, or what happens next. */
function describeNext({ name, calls, retryAt, needsSignIn }: ServerRow): string {
  if (needsSignIn) return `Sign in with: foldout login ${toLabel(name)}`
  if (retryAt !== undefined) {
    const isSoon = retryAt > Date.now()
    if (isSoon) return `Next try at ${formatClock(retryAt)}.`
    return 'The next call tries again.'
  }
  if (calls > 0) return `It is working on ${formatCount(calls, 'call')}.`
  return ''
}
