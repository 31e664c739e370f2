import { defineTool, ok, type AnyTool } from 'foldout'
import * as z from 'zod'
import type { Home } from './home.ts'
import { appStates } from './model.ts'

export function appTools(home: Home): Readonly<Record<'get_installed_apps', AnyTool>> {
  return {
    get_installed_apps: defineTool({
      name: 'get_installed_apps',
      description:
        'List the apps installed on the hub, with version, state (running, stopped, crashed), available update and the ' +
        'devices that each drives. Use it to find out why devices cannot be reached: those of an app that does not run ' +
        'cannot be. Apps can be started and updated only in the Homey app.',
      params: z.strictObject({
        state: z.enum(appStates).optional().describe('Only apps in this state.'),
        updates_only: z.boolean().default(false).describe('Only apps for which there is an update.'),
      }),
      execute: ({ state, updates_only }) => {
        const devices = home.devices()
        const found = home
          .apps()
          .filter((app) => (!state || app.state === state) && (!updates_only || app.update !== undefined))
          .map((app) => ({ ...app, devices: devices.filter((device) => device.app === app.id).map(({ id }) => id) }))
        if (found.length === 0) return ok('No app fits these filters.', [])
        const lines = found.map(({ id, name, version, state, update, devices }) => {
          const drives = devices.length > 0 ? devices.join(', ') : 'no devices'
          return `- ${id} "${name}" ${version}, ${state}${update ? `, update to ${update}` : ''}: ${drives}`
        })
        return ok(lines.join('\n'), found)
      },
    }),
  }
}
