import { all, auto, hybrid, metaTool, twoPhase, type Exposure } from 'foldout/catalog'
import { UsageError } from '../config/config.ts'
import type { ExposureName } from '../config/definition.ts'

const EXPOSURES: Readonly<Record<Exclude<ExposureName, 'code'>, () => Exposure>> = {
  auto: () => auto(),
  all: () => all(),
  hybrid: () => hybrid(),
  'meta-tool': () => metaTool(),
  'two-phase': () => twoPhase(),
}

export const EXPOSURE_NAMES: readonly ExposureName[] = [...(Object.keys(EXPOSURES) as ExposureName[]), 'code']

/** The exposure of a name. The one with programs needs a package that is not part of every installation. */
export async function createExposure(name: ExposureName): Promise<Exposure> {
  if (name !== 'code') return EXPOSURES[name]()
  const { code } = await import('foldout/code')
  try {
    return code()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
