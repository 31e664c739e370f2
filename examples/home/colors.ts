// Converts color names to the two numbers a lamp uses.
import { nearest } from './nearest.ts'
import { HomeError } from './model.ts'

export const coldest = 6500
export const warmest = 2200

const named: Readonly<Record<string, string>> = {
  red: '#ff0000',
  orange: '#ff8000',
  yellow: '#ffff00',
  green: '#00ff00',
  turquoise: '#40e0d0',
  cyan: '#00ffff',
  blue: '#0000ff',
  purple: '#8000ff',
  magenta: '#ff00ff',
  pink: '#ff69b4',
}

export const colorNames = Object.keys(named)

export interface Hue {
  readonly hue: number
  readonly saturation: number
}

export function parseColor(text: string): Hue {
  const color = text.trim().toLowerCase()
  const hex = /^#[0-9a-f]{6}$/.test(color) ? color : named[color]
  if (!hex) {
    throw new HomeError(
      `'${text}' is not a known color. Nearest names: ${nearest(color, colorNames).join(', ')}. ` +
        `Use a name (${colorNames.join(', ')}) or hex such as #ff8800; for shades of white use color_temperature.`,
    )
  }
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255) as [
    number,
    number,
    number,
  ]
  const max = Math.max(red, green, blue)
  const range = max - Math.min(red, green, blue)
  if (range === 0) return { hue: 0, saturation: 0 }
  let sixth = (red - green) / range + 4
  if (max === red) sixth = (green - blue) / range + 6
  else if (max === green) sixth = (blue - red) / range + 2
  return { hue: round((sixth % 6) / 6), saturation: round(range / max) }
}

/** As in lamps, 0 is the coldest white and 1 the warmest. */
export function getTemperature(kelvin: number): number {
  return round((coldest - kelvin) / (coldest - warmest))
}

const round = (value: number): number => Math.round(value * 100) / 100
