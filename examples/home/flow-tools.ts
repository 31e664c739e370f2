import { defineTool, ok, type AnyTool } from 'foldout'
import * as z from 'zod'
import { answer } from './answers.ts'
import { timeText } from './clock.ts'
import { findFlow } from './find.ts'
import { actionText, conditionText, triggerText } from './flow-runner.ts'
import type { Home } from './home.ts'
import { flowKinds, type Flow, type FlowRun } from './model.ts'

type FlowTool = 'trigger_any_flow' | 'get_flow_overview' | 'refresh_homey_flows'

export function flowTools(home: Home): Readonly<Record<FlowTool, AnyTool>> {
  return {
    trigger_any_flow: defineTool({
      name: 'trigger_any_flow',
      description:
        'Start a flow now, whatever its trigger. Its conditions are still checked, and the answer tells what it did. ' +
        'Prefer a flow over single devices for what the people of the home have a name for, such as "good night". ' +
        'Find flows with get_flow_overview.',
      params: z.strictObject({
        flow: z.string().describe('Id or exact name of the flow.'),
        text: z.string().optional().describe('What the flow gets as {text}, for one that uses it.'),
      }),
      execute: ({ flow: wanted, text }) =>
        answer(() => {
          const flow = findFlow(home, wanted)
          const run = home.startFlow(flow.id, text)
          const did = run.unmet
            ? `Flow '${flow.name}' was started but did nothing: its condition "${run.unmet}" does not hold.`
            : [`Flow '${flow.name}' ran:`, ...run.done.map((line) => `- ${line}`)].join('\n')
          return ok(did, { flow: flow.id, ran: run.unmet === undefined, done: run.done })
        }),
    }),

    get_flow_overview: defineTool({
      name: 'get_flow_overview',
      description:
        'List the flows of the home: id, name, folder, what triggers each, what it does, whether it is enabled and when it last ran.',
      params: z.strictObject({
        query: z.string().optional().describe('Only flows with this word in name, folder, triggers or actions.'),
        type: z.enum(flowKinds).optional().describe('Only flows of this type.'),
        enabled_only: z.boolean().default(false).describe('Leave disabled flows out.'),
      }),
      execute: ({ query, type, enabled_only }) => {
        const runs = home.flowRuns()
        const found = home
          .flows()
          .filter((flow) => (!type || flow.kind === type) && (!enabled_only || flow.enabled))
          .map((flow) => describeOverview(flow, runs))
          .filter((flow) => !query || JSON.stringify(flow).toLowerCase().includes(query.toLowerCase()))
        if (found.length === 0) return ok('No flow fits these filters. Without filters every flow is listed.', [])
        return ok(found.map((flow) => overviewText(flow)).join('\n'), found)
      },
    }),

    refresh_homey_flows: defineTool({
      name: 'refresh_homey_flows',
      description:
        'Reload the flows of the home. The list of flows is kept from when the server started, so a flow that was ' +
        'made, renamed, changed or removed in the Homey app since then is seen only after this. Use it when a flow that ' +
        'should be there is not found. The answer tells what is new, changed and gone. It starts no flow and changes none.',
      params: z.strictObject({}),
      execute: () => {
        const refresh = home.refreshFlows()
        const parts = (['added', 'changed', 'removed'] as const)
          .filter((kind) => refresh[kind].length > 0)
          .map((kind) => `${kind} ${refresh[kind].join(', ')}`)
        return ok(`${refresh.total} flows: ${parts.join('; ') || 'nothing new'}.`, refresh)
      },
    }),
  }
}

interface FlowOverview {
  readonly id: string
  readonly name: string
  readonly folder: string
  readonly type: string
  readonly enabled: boolean
  readonly triggers: readonly string[]
  readonly conditions: readonly string[]
  readonly actions: readonly string[]
  readonly lastRun: string | undefined
}

function describeOverview(flow: Flow, runs: readonly FlowRun[]): FlowOverview {
  const last = runs.findLast((run) => run.flow === flow.id)
  return {
    id: flow.id,
    name: flow.name,
    folder: flow.folder,
    type: flow.kind,
    enabled: flow.enabled,
    triggers: flow.triggers.map((trigger) => triggerText(trigger)),
    conditions: flow.conditions.map((condition) => conditionText(condition)),
    actions: flow.actions.map((action) => actionText(action)),
    lastRun: last && timeText(last.at),
  }
}

function overviewText(flow: FlowOverview): string {
  const when = flow.triggers.join(' or ') || 'started by hand'
  const and = flow.conditions.length > 0 ? `, if ${flow.conditions.join(' and ')}` : ''
  const last = flow.lastRun ? `; last ran ${flow.lastRun}` : ''
  const about = `${flow.folder}, ${flow.type}${flow.enabled ? '' : ', disabled'}`
  return `- ${flow.id} "${flow.name}" (${about}): ${when}${and} → ${flow.actions.join('; ')}${last}`
}
