#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'

// Loading the program makes garbage that would let the space for new objects grow, and it never shrinks again: 8 MB of a gateway
// that waits for its first call. `foldout serve` lets it grow once it has started.
setFlagsFromString('--semi-space-growth-factor=1')
const { main } = await import('../dist/main.js')

await main(process.argv)
