// Made by `npm run search:train`. Do not edit.
export const dimensions = 128
export const size = 24000
export const weights = [-5.6527, -1.4439]
export const fields = {"name":0.8509,"source":0.427,"description":1.5873,"tags":0.3795,"category":0.2307,"parameters":0.4329}
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
