import { formatCount } from 'foldout-shared/numbers'
import type { FleetApproval } from 'foldout-fleet'
import type { WaitingCall } from '../../gateway/policy/approvals/approval-store.ts'
import { describeCaller } from '../policy/approvals.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { createStyler, formatTable, indentBlock, shorten, toLine } from '../support/text.ts'
import type { FleetView } from './view.ts'

type Style = ReturnType<typeof createStyler>

/** How many characters of a call's arguments are shown. */
const MOST_ARGUMENTS = 2_000
const MOST_ERROR = 120

/** Formats a fleet as text. */
export function formatFleet(view: FleetView, { stdout, env }: Pick<Surroundings, 'stdout' | 'env'>): string {
  const style = createStyler(stdout, env)
  const { columns = Infinity } = stdout
  const table = (rows: readonly (readonly string[])[]): readonly string[] =>
    formatTable(rows, columns - 2).map((line) => `  ${line}`)
  const parts: readonly (readonly [title: string, lines: readonly string[]])[] = [
    [
      'Gateways',
      table(
        view.gateways.map((one) => [
          toLine(one.host),
          String(one.pid),
          one.state,
          toLine(one.version),
          [
            ...(one.url === undefined ? [] : [toLine(one.url)]),
            ...(one.transports.includes('stdio') ? ['stdio'] : []),
          ].join(', '),
        ]),
      ),
    ],
    [
      'Machines',
      table(
        view.machines.map((one) => [
          toLine(one.name),
          one.isAlive ? 'alive' : 'dead',
          toLine(one.version ?? ''),
          formatCount(one.runs, 'run'),
        ]),
      ),
    ],
    [
      'Queues',
      table(
        view.queues.map((one) => [
          toLine(one.name),
          `${one.waiting} waiting`,
          `${one.delayed} delayed`,
          `${one.active} active`,
        ]),
      ),
    ],
    [
      `Runs: ${formatCounts(view)}`,
      table(view.runs.map((one) => [toLine(`${one.kind}/${one.id}`), one.status, one.changedAt, describeEnd(one)])),
    ],
    [
      'Waiting calls',
      [
        ...view.approvals.flatMap((one) => formatRunCall(one, style)),
        ...view.calls.flatMap((one) => formatGatewayCall(one, style)),
      ],
    ],
    [
      'Takeovers',
      table(
        view.takeovers.map((one) => [
          one.at,
          `${toLine(one.by)} took over ${formatCount(one.runs, 'run')} of ${toLine(one.machine)}`,
        ]),
      ),
    ],
  ]
  const shown = parts.filter(([, lines]) => lines.length > 0)
  if (shown.length === 0) return 'Nothing here yet: no gateways, machines, runs or waiting calls.\n'
  return `${shown.map(([title, lines]) => [style('bold', title), ...lines].join('\n')).join('\n\n')}\n`
}

function formatCounts({ counts, runs, isComplete }: FleetView): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const named = Object.entries(counts).flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${status}`]))
  const listed = runs.length < total ? [`the last ${runs.length} are listed`] : []
  return [...named, ...listed, ...(isComplete ? [] : ['older ones are not counted'])].join(', ')
}

function describeEnd({ machine, error }: FleetView['runs'][number]): string {
  if (error !== undefined) return shorten(toLine(error), MOST_ERROR)
  if (machine === undefined) return ''
  return toLine(machine)
}

function formatRunCall({ id, run, request }: FleetApproval, style: Style): readonly string[] {
  const args = JSON.stringify(request.target?.arguments ?? request.arguments, null, 2) ?? ''
  const tool = request.target?.name ?? request.tool
  return [
    `  ${style('bold', toLine(tool))} for the run ${toLine(`${run.kind}/${run.id}`)}`,
    ...indentBlock(shorten(args, MOST_ARGUMENTS), '    '),
    ...(request.reason === '' ? [] : [`    ${style('yellow', toLine(request.reason))}`]),
    style('dim', `    foldout fleet approve '${toLine(id)}'`),
  ]
}

function formatGatewayCall(call: WaitingCall, style: Style): readonly string[] {
  return [
    `  ${style('bold', toLine(call.tool))} for ${describeCaller(call)}`,
    ...indentBlock(call.arguments, '    '),
    ...(call.reason === undefined ? [] : [`    ${style('yellow', toLine(call.reason))}`]),
    style('dim', `    foldout fleet approve ${call.id}`),
  ]
}
