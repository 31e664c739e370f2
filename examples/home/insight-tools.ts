import { defineTool, ok, type AnyTool } from 'foldout'
import * as z from 'zod'
import { answer } from './answers.ts'
import { recordedNames } from './capabilities.ts'
import { timeText } from './clock.ts'
import { findDevice, findLog, findZone, zoneName } from './find.ts'
import type { Home } from './home.ts'
import type { InsightData, InsightLog, InsightPoint } from './insights.ts'

const getHours = { last_hour: 1, last_6_hours: 6, last_24_hours: 24, last_3_days: 72, last_7_days: 168 } as const
const periods = Object.keys(getHours) as (keyof typeof getHours)[]

export function insightTools(home: Home): Readonly<Record<'get_insight_logs' | 'get_insight_data', AnyTool>> {
  return {
    get_insight_logs: defineTool({
      name: 'get_insight_logs',
      description:
        'List which measurements of the home are recorded over time: temperatures, humidity, CO2, light, power, energy, ' +
        'motion, what was on when. Gives ids for get_insight_data, and no data. Every log has a sample each five minutes ' +
        'and keeps seven days. Filters are combined.',
      params: z.strictObject({
        device_id: z.string().optional().describe('Only logs of this device.'),
        zone_id: z.string().optional().describe('Only logs of devices in this zone and the zones within it.'),
        capability: z.enum(recordedNames).optional().describe('Only logs of this capability.'),
      }),
      execute: ({ device_id, zone_id, capability }) =>
        answer(() => {
          const device = device_id === undefined ? undefined : findDevice(home, device_id)
          const zones = zone_id === undefined ? home.zones() : home.zonesWithin(findZone(home, zone_id).id)
          const within = new Set(zones.map(({ id }) => id))
          const found = home
            .insightLogs()
            .filter((log) => !device || log.device === device.id)
            .filter((log) => within.has(home.device(log.device)!.zone))
            .filter((log) => capability === undefined || log.capability === capability)
          if (found.length === 0) return ok('No log fits these filters. Without filters every log is listed.', [])
          return ok(logsText(found), found)
        }),
    }),

    get_insight_data: defineTool({
      name: 'get_insight_data',
      description:
        'Get what a log recorded over a period, summed up in evenly spaced points: average, lowest and highest of a ' +
        'measurement, share of the time that something was on, energy used of a meter. Before the points comes a summary of ' +
        'the whole period, which with points: 1 is often all you need. Log ids come from get_insight_logs.',
      params: z.strictObject({
        log_id: z
          .string()
          .describe('Id of the log: device id, colon, capability; thermostat-living:measure_temperature.'),
        period: z.enum(periods).default('last_24_hours').describe('How far to look back from now.'),
        points: z
          .int()
          .min(1)
          .max(100)
          .default(24)
          .describe('How many points to sum the period up in. Fewer are cheaper to read.'),
      }),
      execute: ({ log_id, period, points }) =>
        answer(() => {
          const log = findLog(home, log_id)
          const data = home.insightData(log, { minutes: getHours[period] * 60, points })
          return ok(dataText(data, period), {
            log: log.id,
            unit: log.unit,
            period,
            whole: data.whole && { value: data.whole.value, min: data.whole.min, max: data.whole.max },
            points: data.points.map((point) => ({ ...point, from: timeText(point.from), to: timeText(point.to) })),
          })
        }),
    }),
  }

  function logsText(logs: readonly InsightLog[]): string {
    return [...new Set(logs.map((log) => log.device))]
      .map((id) => {
        const { name, zone } = home.device(id)!
        const own = logs.filter((log) => log.device === id).map(({ id, unit }) => `${id}${unit && ` (${unit})`}`)
        return `- ${name}, ${zoneName(home, zone)}: ${own.join(', ')}`
      })
      .join('\n')
  }

  function dataText({ log, whole, points, latest }: InsightData, period: string): string {
    const head = `${log.id}, ${period} until ${timeText(home.now())}`
    if (!whole) return `${head}: nothing was recorded.`
    const position = latest ? 'on' : 'off'
    const now = log.kind === 'switch' ? position : `${latest} ${log.unit}`
    return [
      `${head}: ${pointText(log, whole)}; now ${now}.`,
      ...(points.length > 1 ? points.map((point) => `${timeText(point.from)} ${pointText(log, point)}`) : []),
    ].join('\n')
  }
}

function pointText({ kind, unit }: InsightLog, { value, min, max }: InsightPoint): string {
  if (kind === 'switch') return `on ${Math.round(value * 100)} % of the time`
  if (kind === 'meter') return `used ${value} ${unit}`
  return `average ${value} ${unit}, lowest ${min}, highest ${max}`
}
