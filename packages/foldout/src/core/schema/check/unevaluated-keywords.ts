import { isPlainObject } from '../../json/json.ts'
import type { Keyword } from './node.ts'
import { getUnknownField } from './object-keywords.ts'

const unevaluatedProperties: Keyword = (value, schema) => (place, run, outcome) => {
  if (!isPlainObject(place.value) || outcome.fields === 'all') return
  const seen = outcome.fields
  const known = isPlainObject(schema['properties']) ? Object.keys(schema['properties']) : []
  for (const name of Object.keys(place.value)) {
    run.spend()
    if (outcome.isFull || seen?.has(name)) continue
    if (value === false) outcome.add(getUnknownField(name, known, place))
    else for (const issue of run.evaluate(value, place.at(name, place.value[name])).issues) outcome.add(issue)
  }
  outcome.fields = 'all'
}

const unevaluatedItems: Keyword = (value) => (place, run, outcome) => {
  if (!Array.isArray(place.value)) return
  const list: readonly unknown[] = place.value
  for (let index = outcome.items; index < list.length && !outcome.isFull; index++) {
    run.spend()
    if (outcome.moreItems.has(index)) continue
    for (const issue of run.evaluate(value, place.at(index, list[index])).issues) outcome.add(issue)
  }
  outcome.items = Infinity
}

export const UNEVALUATED_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['unevaluatedProperties', unevaluatedProperties],
  ['unevaluatedItems', unevaluatedItems],
]
