#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'

// Loading the program creates garbage that would make the space for new objects grow. It never shrinks again, which would cost 8 MB in a
// gateway that waits for its first call. `foldout serve` lets it grow after the start.
setFlagsFromString('--semi-space-growth-factor=1')
const { main } = await import('../dist/main.js')

await main(process.argv)
