// Made by `npm run search:train`. Do not edit.
export const dimensions = 128
export const size = 24000
export const weights = [-6.84, -3.0289]
export const fields = {"name":0.8947,"source":0.4208,"description":1.5516,"tags":0.3792,"category":0.2383,"parameters":0.4299}
export const parts = [
  () => import('./word-vectors-0.js'),
  () => import('./word-vectors-1.js'),
  () => import('./word-vectors-2.js'),
  () => import('./word-vectors-3.js'),
  () => import('./word-vectors-4.js'),
  () => import('./word-vectors-5.js'),
  () => import('./word-vectors-6.js'),
  () => import('./word-vectors-7.js'),
]
