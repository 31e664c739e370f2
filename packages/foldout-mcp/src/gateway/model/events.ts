import type { BrokenTool } from 'foldout/catalog'
import type { UpstreamState } from './server-state.ts'

/**
 * Something that happened in a gateway, for logs.
 *
 * @example
 * const log = (event: GatewayEvent): void => console.error(event.type, 'server' in event ? event.server : '')
 */
export type GatewayEvent =
  | { readonly type: 'server/state'; readonly server: string; readonly state: UpstreamState }
  /** A server's tools became known, or have changed. */
  | { readonly type: 'server/tools'; readonly server: string; readonly tools: number; readonly change: ToolChange }
  /** Tools of a server are new or have changed since the user accepted them, and may be held until they are approved. */
  | {
      readonly type: 'server/unapproved'
      readonly server: string
      readonly added: readonly string[]
      readonly changed: readonly string[]
      readonly isHeld: boolean
    }
  /** Clients do not see some tools of a server, because something is wrong with their definitions. */
  | { readonly type: 'server/broken'; readonly server: string; readonly tools: readonly BrokenTool[] }
  | { readonly type: 'server/added' | 'server/removed'; readonly server: string }
  /** Something is wrong, but the gateway keeps working. */
  | { readonly type: 'problem'; readonly server: string | undefined; readonly message: string }

/**
 * How a server's tools differ from those known before, by tool name.
 *
 * @example
 * const change: ToolChange = { added: ['send_mail'], removed: [], changed: [] }
 */
export interface ToolChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}
