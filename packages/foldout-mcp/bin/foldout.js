#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'

// The space for new objects grows while the program loads and while many calls run, and never shrinks again. That would cost 8 MB in a
// gateway that waits for its first call, and 25 MB after 20,000 calls. Single calls are no slower in a small space.
setFlagsFromString('--semi-space-growth-factor=1')
const { main } = await import('../dist/main.js')

await main(process.argv)
