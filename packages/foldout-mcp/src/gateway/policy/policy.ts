import { isDeepStrictEqual } from 'node:util'
import type { Authorize } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { UsageError, type AuditSettings, type GatewayConfig } from '../config/config.ts'
import type { Variables } from '../config/variables.ts'
import { createRedactor } from './secrets/redact.ts'
import { PRUNE_MS } from './audit/limits.ts'
import type { AuditStore } from './audit/audit-store.ts'
import type { ApprovalStore } from './approvals/approval-store.ts'
import { createApprovals, type Approvals } from './approvals/approvals.ts'
import { openAuditFile } from './audit/audit-file.ts'
import { openAuditLog, type AuditLog } from './audit/audit.ts'
import type { QuotaStore } from './quotas/quota-store.ts'
import { createQuotas, type Quotas } from './quotas/quotas.ts'
import { checkToken, readTokens, type Token } from './tokens.ts'
import { createRules, type Rules } from './rules/rules.ts'
import { findConfigSecrets } from './secrets/find-secrets.ts'
import type { Secrets } from './secrets/secrets.ts'

/** Where a gateway keeps what users decide and clients do. */
export interface PolicyStore {
  readonly approvals: ApprovalStore
  readonly quotas: QuotaStore
  readonly audit: AuditStore | undefined
}

export interface PolicyOptions {
  readonly store: PolicyStore
  /** The secrets to hide. May already contain some. */
  readonly secrets: Secrets
  readonly variables: Variables
  readonly onProblem: (message: string) => void
}

const NO_AUDIT_STORE = '"audit" is true, but there is no store. Set "store", or give "audit" a file.'

/** What clients of a gateway may do and what is logged. Changes with the configuration. */
export class Policy {
  readonly secrets: Secrets
  readonly approvals: Approvals
  readonly quotas: Quotas
  /** The calls that wait for the user. */
  readonly waiting: Pick<ApprovalStore, 'list' | 'approve' | 'deny'>
  readonly #options: PolicyOptions
  #config: Pick<GatewayConfig, 'rules' | 'presets' | 'http'> = { rules: [], presets: new Map(), http: {} }
  #tokens: readonly Token[] = []
  #rules = new Map<string, Rules>()
  #audit: AuditLog | undefined
  #auditSettings: AuditSettings | undefined
  #pruning: ReturnType<typeof setInterval> | undefined

  constructor(options: PolicyOptions) {
    this.#options = options
    this.secrets = options.secrets
    this.waiting = options.store.approvals
    this.approvals = createApprovals(options.store.approvals, this.secrets)
    this.quotas = createQuotas(options.store.quotas)
  }

  /** Identifies the sender of an HTTP request. Without tokens, anyone may send. */
  get authorize(): Authorize | undefined {
    const { publicUrl } = this.#config.http
    if (!this.#config.http.tokens?.length) return undefined
    return (request) => checkToken(request, this.#tokens, publicUrl)
  }

  /**
   * Reads the tokens of a configuration, for a gateway that serves HTTP.
   *
   * @throws UsageError if one is missing or too short.
   */
  readTokens({ http }: Pick<GatewayConfig, 'http'>): readonly Token[] {
    const tokens = readTokens(http, this.#options.variables)
    this.secrets.add(tokens.map(({ token }) => token))
    return tokens
  }

  /** Makes these tokens the valid ones. */
  useTokens(tokens: readonly Token[]): void {
    this.#tokens = tokens
  }

  get audit(): AuditLog | undefined {
    return this.#audit
  }

  /** Registers the secrets of a configuration before anything in it is used. */
  learn(config: GatewayConfig): void {
    this.secrets.add(findConfigSecrets(config, this.#options.variables))
  }

  update(config: GatewayConfig): void {
    this.#config = config
    this.#rules = new Map()
    this.quotas.update(config.quotas)
    if (isDeepStrictEqual(config.audit, this.#auditSettings)) return
    void this.#audit?.close()
    clearInterval(this.#pruning)
    this.#auditSettings = config.audit
    this.#audit = config.audit && this.#openAudit(config.audit)
  }

  #openAudit(settings: AuditSettings): AuditLog {
    const { onProblem, store } = this.#options
    if (!('keepDays' in settings)) return openAuditLog(openAuditFile(settings), createRedactor(this.secrets), onProblem)
    const { audit } = store
    if (!audit) throw new UsageError(NO_AUDIT_STORE)
    const prune = (): void => void ignore(audit.prune(settings.keepDays), 'it is tried again')
    prune()
    this.#pruning = setInterval(prune, PRUNE_MS)
    this.#pruning.unref()
    const target = { title: 'in the store', canRepeat: true, append: audit.append }
    return openAuditLog(target, createRedactor(this.secrets), onProblem)
  }

  /** @throws UsageError if a configuration needs something that the gateway does not have. */
  check({ audit }: GatewayConfig): void {
    if (audit && 'keepDays' in audit && !this.#options.store.audit) throw new UsageError(NO_AUDIT_STORE)
  }

  /** The preset's rules come first. */
  getRules(preset: string): Rules {
    const known = this.#rules.get(preset)
    if (known) return known
    const { presets, rules } = this.#config
    const made = createRules([...(presets.get(preset)?.rules ?? []), ...rules])
    this.#rules.set(preset, made)
    return made
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning)
    await this.quotas.close()
    await this.#audit?.close()
  }
}
