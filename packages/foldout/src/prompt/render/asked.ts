import {
  toVisibilityMap,
  type Visibility,
  type VisibilityMap,
  type VisibilityOverrides,
} from '../../session/visibility.ts'

/**
 * The requested visibility of sections, in layers: later ones win. The layers are not merged, because a session's layer
 * grows with each opening, and a merge would copy all of it for each of them.
 */
export class Asked {
  readonly #layers: readonly VisibilityMap[]
  #merged: VisibilityMap | undefined

  constructor(...layers: readonly (VisibilityOverrides | VisibilityMap)[]) {
    this.#layers = layers.map(toVisibilityMap)
  }

  get(path: string): Visibility | undefined {
    return this.#layers.findLast((layer) => layer.has(path))?.get(path)
  }

  /** Returns the same request with another layer. */
  with(layer: VisibilityOverrides): Asked {
    return new Asked(...this.#layers, layer)
  }

  /** All requests in one map. */
  merge(): VisibilityMap {
    return (this.#merged ??= new Map(this.#layers.flatMap((layer) => [...layer])))
  }

  /** Lists the paths in which two requests may differ. */
  findChanged(before: Asked): readonly string[] {
    const paths: string[] = []
    for (let at = 0; at < Math.max(this.#layers.length, before.#layers.length); at++)
      addDifferent(before.#layers[at] ?? NOTHING, this.#layers[at] ?? NOTHING, paths)
    return paths
  }
}

const NOTHING: VisibilityMap = new Map()

/** Nothing is requested. */
export const NOTHING_ASKED = new Asked()

function addDifferent(before: VisibilityMap, after: VisibilityMap, paths: string[]): void {
  if (before === after) return
  for (const [path, asked] of after) if (before.get(path) !== asked) paths.push(path)
  for (const path of before.keys()) if (!after.has(path)) paths.push(path)
}
