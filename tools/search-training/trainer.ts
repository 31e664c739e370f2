import { dots, matrix, transposed, type Matrix } from './matrix.ts'
import { emphasisAt, FIELDS, computeWeight, type Model, type Text } from './model.ts'

/** The label of a tool that answers a query. */
export const RIGHT = 1

export interface Batch {
  readonly queries: readonly Text[]
  readonly tools: readonly Text[]
  /** By query and tool: `RIGHT`, or 0 for wrong. */
  readonly labels: Int8Array
}

export interface Rates {
  readonly map: number
  readonly shift: number
  readonly emphasis: number
  readonly field: number
  readonly temperature: number
  /** The share of the loss from tools to queries. */
  readonly backward: number
}

export interface Trainer {
  /** Learns from one batch; returns the loss. */
  step(batch: Batch, rates: Rates): number
}

interface Encoded {
  readonly texts: readonly Text[]
  readonly weights: readonly Float32Array[]
  /** Weighted sums of the words' initial vectors. */
  readonly bases: Matrix
  /** The vectors of the texts, each of length 1. */
  readonly units: Matrix
  readonly lengths: Float64Array
}

export function createTrainer(model: Model): Trainer {
  const { dimensions, size, start, map, shift, emphasis, fieldEmphasis } = model
  const mapGradient = new Float32Array(map.length)
  const mapMean = new Float32Array(map.length)
  const mapSquare = new Float32Array(map.length)
  const shiftSquare = new Float32Array(size)
  const emphasisSquare = new Float32Array(2 * size)
  const fieldGradient = new Float64Array(FIELDS.length)
  const fieldSquare = new Float64Array(FIELDS.length)
  const shiftGradient = new Float32Array(shift.length)
  const isTouched = new Uint8Array(size)
  const touched: number[] = []
  const emphasisGradient = new Float32Array(2 * size)
  let steps = 0

  const encode = (texts: readonly Text[]): Encoded => {
    const bases = matrix(texts.length, dimensions)
    const shifts = new Float32Array(texts.length * dimensions)
    const weights = texts.map((text, at) => {
      const ofWords = Float32Array.from(text.words, (_, k) => computeWeight(model, text, k))
      const to = at * dimensions
      for (let k = 0; k < ofWords.length; k++) {
        const weight = ofWords[k]!
        const from = text.words[k]! * dimensions
        for (let d = 0; d < dimensions; d++) {
          bases.values[to + d]! += weight * start[from + d]!
          shifts[to + d]! += weight * shift[from + d]!
        }
      }
      return ofWords
    })
    const units = dots(bases, matrix(dimensions, dimensions, map))
    const lengths = new Float64Array(texts.length)
    for (let at = 0; at < texts.length; at++) {
      let square = 1e-12
      for (let i = at * dimensions; i < (at + 1) * dimensions; i++) {
        units.values[i]! += shifts[i]!
        square += units.values[i]! ** 2
      }
      lengths[at] = Math.sqrt(square)
      for (let i = at * dimensions; i < (at + 1) * dimensions; i++) units.values[i]! /= lengths[at]!
    }
    return { texts, weights, bases, units, lengths }
  }

  /** Propagates the gradient of the unit vectors to everything that is learned. */
  const goBack = ({ texts, weights, bases, units, lengths }: Encoded, gradients: Matrix): void => {
    const { values } = gradients
    for (let at = 0; at < texts.length; at++) {
      const from = at * dimensions
      let along = 0
      for (let i = from; i < from + dimensions; i++) along += values[i]! * units.values[i]!
      for (let i = from; i < from + dimensions; i++) values[i] = (values[i]! - along * units.values[i]!) / lengths[at]!
    }
    const ofMap = dots(transposed(gradients), transposed(bases)).values
    for (let i = 0; i < ofMap.length; i++) mapGradient[i]! += ofMap[i]!
    const ofBases = dots(gradients, transposed(matrix(dimensions, dimensions, map))).values
    for (const [at, text] of texts.entries()) {
      const from = at * dimensions
      for (let k = 0; k < text.words.length; k++) {
        const weight = weights[at]![k]!
        const word = text.words[k]!
        const row = word * dimensions
        if (isTouched[word] === 0) {
          isTouched[word] = 1
          touched.push(word)
        }
        let ofWeight = 0
        for (let d = 0; d < dimensions; d++) {
          const gradient = values[from + d]!
          shiftGradient[row + d]! += weight * gradient
          ofWeight += gradient * shift[row + d]! + ofBases[from + d]! * start[row + d]!
        }
        emphasisGradient[emphasisAt(model, text, k)]! += weight * ofWeight
        fieldGradient[text.fields[k]!]! += weight * ofWeight
      }
    }
  }

  /** Adam for the map, Adagrad for parameters that only some batches touch. */
  const update = (rates: Rates): void => {
    steps++
    const correction = Math.sqrt(1 - 0.999 ** steps) / (1 - 0.9 ** steps)
    for (let at = 0; at < map.length; at++) {
      const gradient = mapGradient[at]!
      mapMean[at] = 0.9 * mapMean[at]! + 0.1 * gradient
      mapSquare[at] = 0.999 * mapSquare[at]! + 0.001 * gradient * gradient
      map[at]! -= (rates.map * correction * mapMean[at]!) / (Math.sqrt(mapSquare[at]!) + 1e-8)
    }
    mapGradient.fill(0)
    for (const word of touched) {
      isTouched[word] = 0
      const row = word * dimensions
      let square = 0
      for (let i = row; i < row + dimensions; i++) square += shiftGradient[i]! ** 2
      shiftSquare[word]! += square / dimensions
      const rate = rates.shift / (Math.sqrt(shiftSquare[word]!) + 1e-6)
      for (let i = row; i < row + dimensions; i++) shift[i]! -= rate * shiftGradient[i]!
      shiftGradient.fill(0, row, row + dimensions)
      for (const at of [word, size + word]) {
        const gradient = emphasisGradient[at]!
        emphasisSquare[at]! += gradient * gradient
        emphasis[at]! -= (rates.emphasis * gradient) / (Math.sqrt(emphasisSquare[at]!) + 1e-6)
        emphasisGradient[at] = 0
      }
    }
    touched.length = 0
    // Queries have only one field, so its weight has no effect.
    for (let field = 1; field < FIELDS.length; field++) {
      fieldSquare[field]! += fieldGradient[field]! ** 2
      fieldEmphasis[field]! -= (rates.field * fieldGradient[field]!) / (Math.sqrt(fieldSquare[field]!) + 1e-6)
    }
    fieldGradient.fill(0)
  }

  return {
    step({ queries, tools, labels }, rates) {
      const left = encode(queries)
      const right = encode(tools)
      const logits = dots(left.units, right.units)
      for (let i = 0; i < labels.length; i++) logits.values[i]! /= rates.temperature
      const gradient = matrix(queries.length, tools.length)
      const forward = (1 - rates.backward) / queries.length
      let loss = crossEntropy(logits, labels, gradient, forward, false)
      if (rates.backward > 0) loss += crossEntropy(logits, labels, gradient, rates.backward / tools.length, true)
      for (let i = 0; i < labels.length; i++) gradient.values[i]! /= rates.temperature
      const ofQueries = dots(gradient, transposed(right.units))
      const ofTools = dots(transposed(gradient), transposed(left.units))
      goBack(left, ofQueries)
      goBack(right, ofTools)
      update(rates)
      return loss
    },
  }
}

/** The loss of each row, or each column, against the right ones. Adds to the gradient. */
function crossEntropy(logits: Matrix, labels: Int8Array, gradient: Matrix, share: number, byColumn: boolean): number {
  const lines = byColumn ? logits.columns : logits.rows
  const length = byColumn ? logits.rows : logits.columns
  const lineStep = byColumn ? 1 : logits.columns
  const itemStep = byColumn ? logits.columns : 1
  const odds = new Float64Array(length)
  let loss = 0
  for (let line = 0; line < lines; line++) {
    let top = -Infinity
    let right = 0
    for (let k = 0, at = line * lineStep; k < length; k++, at += itemStep) {
      if (labels[at] === RIGHT) right++
      top = Math.max(top, logits.values[at]!)
    }
    if (right === 0) continue
    let sum = 0
    for (let k = 0, at = line * lineStep; k < length; k++, at += itemStep) {
      odds[k] = Math.exp(logits.values[at]! - top)
      sum += odds[k]!
    }
    for (let k = 0, at = line * lineStep; k < length; k++, at += itemStep) {
      const odd = odds[k]! / sum
      gradient.values[at]! += share * (odd - (labels[at] === RIGHT ? 1 / right : 0))
      if (labels[at] === RIGHT) loss -= (share / right) * Math.log(odd + 1e-12)
    }
  }
  return loss
}
