import fc from 'fast-check'
import { definePrompt, type BoundPrompt } from '../prompt/prompt.ts'
import { defineSection, type AnySection, type AnyValues } from '../prompt/definition/section.ts'
import { ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'

/** The shape of a generated section; its texts and tools follow from its path. */
export interface Shape {
  readonly folds: 'never' | 'may' | 'folded'
  readonly enabled: boolean
  readonly dynamic: boolean
  readonly tools: number
  readonly params: boolean
  readonly children: readonly Shape[]
}

const shapeAt = (depth: number): fc.Arbitrary<Shape> =>
  fc.record({
    folds: fc.constantFrom('never', 'may', 'folded', 'folded'),
    enabled: fc.constantFrom(true, true, true, true, false),
    dynamic: fc.boolean(),
    tools: fc.constantFrom(0, 0, 0, 1, 2),
    params: fc.boolean(),
    children: depth === 0 ? fc.constant([]) : fc.array(shapeAt(depth - 1), { maxLength: 3 }),
  })

export const shapes: fc.Arbitrary<readonly Shape[]> = fc.array(shapeAt(3), { minLength: 1, maxLength: 4 })

/**
 * Creates sections from shapes. A body says `body of a.b.`, a summary `summary of a.b.`, so texts can be distinguished.
 */
export function getSections(shapes: readonly Shape[], parent = ''): AnySection[] {
  return shapes.map((shape, i) => {
    const key = String.fromCharCode(97 + i)
    const path = parent ? `${parent}.${key}` : key
    const folded = shape.folds === 'folded' ? ('summary' as const) : ('full' as const)
    return defineSection({
      key,
      title: `Title ${path}`,
      template: `body of ${path}.${shape.params ? ' ${value}' : ''}`,
      ...(shape.folds === 'never' ? {} : { summary: `summary of ${path}.` }),
      visibility: shape.dynamic ? () => folded : folded,
      enabled: shape.dynamic ? () => shape.enabled : shape.enabled,
      tools: Array.from({ length: shape.tools }, (_, n) =>
        defineTool({
          name: `${path.replaceAll('.', '-')}_${n}`,
          description: `Tool ${n} of ${path}.`,
          execute: () => ok('done'),
        }),
      ),
      children: getSections(shape.children, path),
    })
  })
}

/** Creates a prompt from shapes, with the value they need. */
export function getBound(shapes: readonly Shape[]): BoundPrompt<AnyValues> {
  const needsValue = (list: readonly Shape[]): boolean =>
    list.some(({ params, children }) => params || needsValue(children))
  const prompt = definePrompt({ ns: 'test', key: 'generated', sections: getSections(shapes) })
  return prompt.bind(needsValue(shapes) ? { value: 'v' } : {})
}

/** Lists every path in some shapes, including disabled ones. */
export function getPaths(shapes: readonly Shape[], parent = ''): string[] {
  return shapes.flatMap((shape, i) => {
    const key = String.fromCharCode(97 + i)
    const path = parent ? `${parent}.${key}` : key
    return [path, ...getPaths(shape.children, path)]
  })
}

/** Some shapes, and the keys that a model opens, turn by turn. */
export const shapesAndOpenings: fc.Arbitrary<readonly [readonly Shape[], readonly (readonly string[])[]]> =
  shapes.chain((sections) => {
    const keys = fc.array(fc.constantFrom(...getPaths(sections)), { minLength: 1, maxLength: 3 })
    return fc.tuple(fc.constant(sections), fc.array(keys, { maxLength: 5 }))
  })
