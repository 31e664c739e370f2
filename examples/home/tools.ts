// The tools a model runs the home with.
import type { AnyTool } from 'foldout'
import { appTools } from './app-tools.ts'
import { controlTools } from './control-tools.ts'
import { flowTools } from './flow-tools.ts'
import type { Home } from './home.ts'
import { insightTools } from './insight-tools.ts'
import { queryTools } from './query-tools.ts'
import { zoneTools } from './zone-tools.ts'

export function homeTools(home: Home): AnyTool[] {
  const { get_home_structure, get_states } = queryTools(home)
  const { trigger_any_flow, get_flow_overview, refresh_homey_flows } = flowTools(home)
  const { set_light, set_thermostat, control_device, toggle_device } = controlTools(home)
  const { control_zone_lights, control_zone_capability } = zoneTools(home)
  const { get_insight_logs, get_insight_data } = insightTools(home)
  const { get_installed_apps } = appTools(home)
  return [
    get_home_structure,
    get_states,
    trigger_any_flow,
    get_flow_overview,
    set_light,
    set_thermostat,
    control_device,
    toggle_device,
    control_zone_lights,
    control_zone_capability,
    get_insight_logs,
    get_insight_data,
    get_installed_apps,
    refresh_homey_flows,
  ]
}
