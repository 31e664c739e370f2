import { getRegistry } from '../../prompt/prompt.ts'
import type { Slot } from '../../prompt/definition/registry.ts'
import type { SimulatedRun, SimulationStep } from '../simulate/contract.ts'

/** Lets a run open the sections whose tools it calls, whatever is folded. What is open already costs nothing. */
export function withOpenings(run: SimulatedRun): SimulatedRun {
  const owners = findOwners(run)
  const steps = run.steps.flatMap((step): SimulationStep[] => {
    if (!('calls' in step)) return [step]
    const opens = [...new Set(step.calls.flatMap(({ name }) => owners.get(name) ?? []))]
    if (opens.length === 0) return [step]
    return [{ opens }, step]
  })
  return { ...run, steps }
}

function findOwners({ prompt }: SimulatedRun): ReadonlyMap<string, string> {
  const owners = new Map<string, string>()
  for (const { path, section } of getRegistry(prompt.prompt).slots)
    for (const { name } of section.tools) if (!owners.has(name)) owners.set(name, path)
  return owners
}

/**
 * Estimates the share of conversations that need a section or one inside it, from the runs that opened it or called a
 * tool of it. What no run needed is still needed now and then, the more likely the fewer runs there are.
 */
export function learnNeeds(runs: readonly SimulatedRun[]): (path: string) => number {
  const counts = new Map<string, number>()
  for (const { steps } of runs) {
    const opened = steps.flatMap((step) => ('opens' in step ? step.opens : []))
    const needed = new Set(opened.flatMap((path) => toBranch(path)))
    for (const path of needed) counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return (path) => ((counts.get(path) ?? 0) + 0.5) / (runs.length + 1)
}

function toBranch(path: string): readonly string[] {
  const keys = path.split('.')
  return keys.map((_, at) => keys.slice(0, at + 1).join('.'))
}

/** Whether recorded runs can show that a section is not needed: it was folded, or has tools that nobody called. */
export function isKnown({ section, toolsBelow }: Slot): boolean {
  return toolsBelow || section.visibility !== 'full'
}
