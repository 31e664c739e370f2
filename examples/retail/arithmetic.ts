// The calculator of the desk.
import { Refusal } from './rules.ts'

const LONGEST = 200

/** Computes an expression of numbers, parentheses and the four operators. */
export function calculate(expression: string): number {
  const tokens = expression.length > LONGEST ? [] : (expression.match(/\d+(?:\.\d+)?|[-+*/()]|\S/g) ?? [])
  let at = 0
  const wrong = (): never => {
    throw new Refusal('Pass numbers, parentheses and + - * / only, such as (12.50 - 3) * 2.')
  }
  const readValue = (): number => {
    const token = tokens[at++]
    if (token === '-') return -readValue()
    if (token === '(') {
      const inner = readSum()
      return tokens[at++] === ')' ? inner : wrong()
    }
    return token !== undefined && /^\d/.test(token) ? Number(token) : wrong()
  }
  const readProduct = (): number => {
    let value = readValue()
    while (tokens[at] === '*' || tokens[at] === '/')
      value = tokens[at++] === '*' ? value * readValue() : value / readValue()
    return value
  }
  const readSum = (): number => {
    let value = readProduct()
    while (tokens[at] === '+' || tokens[at] === '-')
      value = tokens[at++] === '+' ? value + readProduct() : value - readProduct()
    return value
  }
  const value = readSum()
  if (at !== tokens.length || !Number.isFinite(value)) return wrong()
  return Math.round(value * 100) / 100
}
