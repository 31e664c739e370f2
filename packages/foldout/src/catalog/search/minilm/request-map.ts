import { dimensions, rows, scales } from '../../../../word-vectors/request-map.js'
import { DIGITS, ZERO } from '../vectors/vectors.ts'

let unpacked: Float32Array | undefined

/**
 * Moves the vector of a request to where tools for such requests are. The encoder learned from sentences that say the same, but a
 * request and the description of a tool do not: "I'm hungry", "Finds restaurants". `npm run search:map` learns this map from labeled
 * requests. A vector of another length comes from another model and stays as it is.
 */
export function mapRequest(vector: Float32Array): Float32Array {
  if (vector.length !== dimensions) return vector
  unpacked ??= unpack()
  const mapped = vector.slice()
  for (const [row, value] of vector.entries()) {
    const start = row * dimensions
    for (let column = 0; column < dimensions; column++) {
      mapped[column] = (mapped[column] ?? 0) + value * (unpacked[start + column] ?? 0)
    }
  }
  return mapped
}

function unpack(): Float32Array {
  const values = new Float32Array(dimensions * dimensions)
  for (let at = 0; at < values.length; at++) {
    const scale = scales[Math.floor(at / dimensions)] ?? 0
    values[at] = scale * (DIGITS.indexOf(rows.charAt(at)) - ZERO)
  }
  return values
}
