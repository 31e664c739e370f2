import type { SavedHeader, SavedRun } from '../contract/saved.ts'

/** The runs of a comparison that belong to its cases and arms as they are now. */
export interface KnownRuns {
  /** The runs of a case in an arm, by repeat. */
  get(arm: string, id: string): readonly SavedRun[]
  ofArm(arm: string): readonly SavedRun[]
  /** How many runs were of another version of their arm or case. */
  readonly others: number
}

/** @param repeats How many repeats count. */
export function indexRuns(header: SavedHeader, runs: readonly SavedRun[], repeats: number): KnownRuns {
  const isCurrent = createRunCheck(header)
  const byArm = new Map<string, Map<string, SavedRun[]>>()
  let others = 0
  for (const run of runs) {
    if (!isCurrent(run)) {
      others++
      continue
    }
    if (run.repeat >= repeats) continue
    const ofArm = byArm.get(run.arm) ?? new Map<string, SavedRun[]>()
    byArm.set(run.arm, ofArm)
    const ofCase = ofArm.get(run.case) ?? []
    ofArm.set(run.case, ofCase)
    ofCase.push(run)
  }
  for (const ofArm of byArm.values())
    for (const ofCase of ofArm.values()) ofCase.sort((one, other) => one.repeat - other.repeat)
  return {
    get: (arm, id) => byArm.get(arm)?.get(id) ?? NONE,
    ofArm: (arm) => [...(byArm.get(arm)?.values() ?? [])].flat(),
    others,
  }
}

const NONE: readonly SavedRun[] = []

/** Cases of one conversation are not independent. */
export function getCluster({ id, conversation }: SavedHeader['cases'][number]): string {
  if (conversation === undefined) return `case ${id}`
  return `conversation ${conversation}`
}

/** Whether a run belongs to a case and an arm as they are now. */
export function createRunCheck({ arms, models, cases }: SavedHeader): (run: SavedRun) => boolean {
  const digests = new Map(cases.map(({ id, digest }) => [id, digest]))
  return ({ arm, armDigest, model, ...run }) => {
    if (!Object.hasOwn(arms, arm) || arms[arm] !== armDigest || digests.get(run.case) !== run.caseDigest) return false
    const now = models[arm] ?? ''
    return now === '' || model === '' || model === now
  }
}
