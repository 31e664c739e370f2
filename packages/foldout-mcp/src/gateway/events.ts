import type { UpstreamState } from './upstreams/upstream.ts'

/**
 * What happens in a gateway, for logs and for the curious.
 *
 * @example
 * const log = (event: GatewayEvent): void => console.error(event.type, 'server' in event ? event.server : '')
 */
export type GatewayEvent =
  | { readonly type: 'server/state'; readonly server: string; readonly state: UpstreamState }
  /** A server's tools became known, or differ from what was known. */
  | { readonly type: 'server/tools'; readonly server: string; readonly tools: number; readonly change: ToolChange }
  /** Tools of a server are new or have changed since the user accepted them, and may be held until they are approved. */
  | {
      readonly type: 'server/unapproved'
      readonly server: string
      readonly added: readonly string[]
      readonly changed: readonly string[]
      readonly isHeld: boolean
    }
  | { readonly type: 'server/added' | 'server/removed'; readonly server: string }
  /** Something is wrong that stops nothing. */
  | { readonly type: 'problem'; readonly server: string | undefined; readonly message: string }

/**
 * How a server's tools differ from those known before, by name.
 *
 * @example
 * const change: ToolChange = { added: ['send_mail'], removed: [], changed: [] }
 */
export interface ToolChange {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}
