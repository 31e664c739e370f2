import type { QuotaDefinition, QuotaSubject } from '../../config/definition.ts'
import { hashJson } from '../../../shared/hash.ts'
import { AHEAD_MS, MAX_BUCKETS } from './limits.ts'
import { compileSelector, toList, type Selector, type ToolFacts, type Who } from '../rules/rules.ts'
import { Allotment } from './allotment.ts'
import type { Bucket, QuotaStore } from './quota-store.ts'

/** Limits how many calls clients may make. */
export interface Quotas {
  /** Whether any quota counts this call. */
  counts(who: Who, tool: ToolFacts): boolean
  /** Counts a call. Returns why it must not run, if a quota is used up or cannot be checked. */
  take(who: Who, tool: ToolFacts): Promise<string | undefined>
  /** Replaces the quotas. */
  update(definitions: readonly QuotaDefinition[]): void
  /** Gives back the tokens taken in advance. */
  close(): Promise<void>
}

const PERIODS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

interface Quota {
  readonly definition: QuotaDefinition
  readonly selector: Selector
  readonly subjects: readonly QuotaSubject[]
}

export function createQuotas(store: QuotaStore): Quotas {
  let quotas: readonly Quota[] = []
  const allotments = new Map<string, Allotment>()
  const giveBack = setInterval(() => {
    for (const allotment of allotments.values()) allotment.giveBackIdle()
  }, AHEAD_MS)
  giveBack.unref()

  const find = (who: Who, tool: ToolFacts): readonly Quota[] =>
    quotas.filter(({ selector }) => selector.fitsTool(tool) && selector.fitsWho(who))
  const getAllotment = (bucket: Bucket): Allotment => {
    const known = allotments.get(bucket.key) ?? new Allotment(store, bucket)
    // Keep the most recently used.
    allotments.delete(bucket.key)
    allotments.set(bucket.key, known)
    for (const [oldest, { isIdle }] of allotments) {
      if (allotments.size <= MAX_BUCKETS || !isIdle) break
      allotments.delete(oldest)
    }
    return known
  }
  return {
    counts: (who, tool) => quotas.length > 0 && find(who, tool).length > 0,
    async take(who, tool) {
      const taken: Allotment[] = []
      for (const quota of find(who, tool)) {
        const allotment = getAllotment(toBucket(quota, who, tool))
        const answer = await allotment.take().catch(() => 'unknown' as const)
        if (answer === 'taken') {
          taken.push(allotment)
          continue
        }
        // The call does not run, so the other quotas must not count it.
        for (const other of taken) other.putBack()
        if (answer === 'unknown') return 'its quota cannot be checked now. Try again later.'
        return `the quota of ${describeQuota(quota)} is used up. Try again in ${formatWait(answer.waitMs)}.`
      }
      return undefined
    },
    update(definitions) {
      quotas = definitions.map((definition) => ({
        definition,
        selector: compileSelector(definition),
        subjects: [...new Set(toList(definition.each ?? []))],
      }))
    },
    async close() {
      clearInterval(giveBack)
      await Promise.all(Array.from(allotments.values(), (allotment) => allotment.giveBackAll()))
    },
  }
}

/** A changed definition is a new quota, which starts full. */
function toBucket({ definition, subjects }: Quota, who: Who, tool: ToolFacts): Bucket {
  const values: Readonly<Record<QuotaSubject, string | undefined>> = {
    user: who.user,
    client: who.client?.toLowerCase(),
    preset: tool.preset,
    server: tool.server,
    tool: `${tool.server}/${tool.names[0] ?? ''}`,
  }
  const key = hashJson([definition, subjects.map((subject) => values[subject] ?? null)])
  return { key, capacity: definition.calls, refillMs: PERIODS[definition.per] }
}

function describeQuota({ definition: { calls, per }, subjects }: Quota): string {
  const count = `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} per ${per}`
  if (subjects.length === 0) return count
  return `${count} for each ${subjects.join(' and ')}`
}

function formatWait(waitMs: number): string {
  const seconds = Math.max(1, Math.ceil(Math.round(waitMs) / 1_000))
  if (seconds < 120) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return `${minutes} minutes`
  return `${Math.ceil(minutes / 60)} hours`
}
