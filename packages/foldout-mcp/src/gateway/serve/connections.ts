import { hostname } from 'node:os'
import type { HttpOptions, McpConnection, ServedHttp, StdioOptions } from 'foldout/mcp'
import { UsageError, type GatewayConfig } from '../config/config.ts'
import type { Policy } from '../policy/policy.ts'
import type { Token } from '../policy/tokens.ts'
import type { GatewayRegister } from '../store/contract/gateway-store.ts'
import { listenHttp } from './http.ts'
import type { Views } from './views.ts'

export interface ConnectionsOptions {
  readonly views: Views
  readonly policy: Policy
  readonly gateways: GatewayRegister
  readonly version: string
  getConfig(): GatewayConfig
  onProblem(message: string): void
}

/** How clients reach a gateway: over standard input and output, and over HTTP. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #open = new Set<{ close(): Promise<void> }>()
  /** The presets of the clients over stdio. */
  readonly #overStdio = new Map<McpConnection, string>()
  #isOverHttp = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  async openStdio(preset: string, streams: StdioOptions): Promise<McpConnection> {
    const { served } = await this.#options.views.get(preset)
    void this.#join(undefined)
    const connection = this.#keep(await served.stdio(streams))
    this.#overStdio.set(connection, preset)
    void connection.closed.then(() => this.#overStdio.delete(connection))
    return connection
  }

  async openHttp(options: Omit<HttpOptions, 'path'>): Promise<ServedHttp> {
    const { policy, views, getConfig } = this.#options
    const config = getConfig()
    const { tokens, publicUrl, ...where } = config.http
    policy.useTokens(policy.readTokens(config))
    this.#isOverHttp = true
    const listening = await listenHttp({
      ...where,
      ...options,
      publicUrl,
      isProtected: tokens !== undefined && tokens.length > 0,
      find: (preset) => (preset === '' || getConfig().presets.has(preset) ? views.find(preset) : undefined),
    })
    void this.#join(publicUrl ?? listening.url)
    return this.#keep(listening)
  }

  /**
   * Rejects a configuration with which the connected clients could not be served. Returns the tokens that clients need from then on.
   *
   * @throws UsageError
   */
  check(config: GatewayConfig): readonly Token[] {
    const { policy } = this.#options
    const tokens = this.#isOverHttp ? policy.readTokens(config) : []
    if (this.#isOverHttp && policy.authorize && tokens.length === 0)
      throw new UsageError('The tokens of "http" cannot be removed while the gateway listens. Restart the gateway.')
    for (const preset of this.#overStdio.values())
      if (preset !== '' && !config.presets.has(preset))
        throw new UsageError(`The preset '${preset}' cannot be removed while a client uses it. Restart the gateway.`)
    return tokens
  }

  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#open, (one) => one.close()))
  }

  /** Announces this gateway to the others. */
  async #join(url: string | undefined): Promise<void> {
    const { gateways, version, onProblem } = this.#options
    await gateways
      .join({ host: hostname(), pid: process.pid, version, url })
      .catch((error: Error) => onProblem(`The gateway does not appear in the fleet: ${error.message}`))
  }

  #keep<Open extends { close(): Promise<void>; readonly closed?: Promise<void> }>(opened: Open): Open {
    this.#open.add(opened)
    void opened.closed?.then(() => this.#open.delete(opened))
    return opened
  }
}
