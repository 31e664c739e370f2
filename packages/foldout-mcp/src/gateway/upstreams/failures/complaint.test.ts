import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSecrets } from '../../policy/secrets/secrets.ts'
import { Complaint } from './complaint.ts'

const SECRET = 'secret-0123456789-abcdefghijklmnopqrstuvwxyz'
const { hide } = createSecrets([SECRET])

const complain = (...chunks: readonly string[]): string => complainIn(chunks)

function complainIn(chunks: readonly string[]): string {
  const complaint = new Complaint(hide)
  for (const chunk of chunks) complaint.hear(chunk)
  return complaint.toText()
}

/** Lines that say nothing, and push what matters out of the end. */
const noise = (line: string): string => `${line}\n`.repeat(60)
const STACK = noise('    at Module._compile (node:internal/modules/cjs/loader:1554:14)')

/** What programs print when they fail, with the lines that have to be shown. */
const FAILURES: Readonly<Record<string, readonly [string, ...(readonly string[])]>> = {
  node: [
    `node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/srv/index.js'\n${STACK}\nNode.js v22.1.0\n`,
    "Error: Cannot find module '/srv/index.js'",
  ],
  'a bundle of one line': [
    `/srv/bundle.js:1\n${'var a=new Error("x");'.repeat(30_000)}\n${' '.repeat(50_000)}^\n\nTypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be a string.\n${STACK}`,
    'TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be a string.',
  ],
  'a cause': [
    `Error: start failed\n${STACK}  [cause]: TypeError: fetch failed\n${STACK}`,
    'Error: start failed',
    '[cause]: TypeError: fetch failed',
  ],
  python: [
    `Traceback (most recent call last):\n${noise('  File "/srv/main.py", line 3, in <module>\n    import app')}ModuleNotFoundError: No module named 'app'\n${noise('see the manual')}`,
    "ModuleNotFoundError: No module named 'app'",
  ],
  'python with an exception of its own': [
    `Traceback (most recent call last):\n  File "/srv/main.py", line 3, in <module>\n    start()\nshop.NoKey\n${noise('bye')}`,
    'shop.NoKey',
  ],
  'python with a group': [
    `  + Exception Group Traceback (most recent call last):\n  |   File "a.py"\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "b.py"\n    | ValueError: no key\n    +------\n${noise('bye')}`,
    '| ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)',
    '| ValueError: no key',
  ],
  npm: [
    `npm error code E404\nnpm error 404 Not Found - GET /@acme%2fnope\n${noise('npm notice')}`,
    'npm error code E404',
    'npm error 404 Not Found - GET /@acme%2fnope',
  ],
  'npm before version 10': [
    `npm ERR! could not determine executable to run\n${noise('npm notice')}`,
    'npm ERR! could not determine executable to run',
  ],
  uv: [
    `  × No solution found when resolving tool dependencies:\n${noise('  ╰─▶ and so on')}`,
    '× No solution found when resolving tool dependencies:',
  ],
  pip: [
    `ERROR: Could not find a version that satisfies nope\n${noise('hint')}`,
    'ERROR: Could not find a version that satisfies nope',
  ],
  docker: [
    `docker: Error response from daemon: pull access denied for nope.\n${noise("Run 'docker run --help' for more information")}`,
    'docker: Error response from daemon: pull access denied for nope.',
  ],
  'docker without its daemon': [
    `docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n${noise("See 'docker run --help'.")}`,
    'docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
  ],
  rust: [
    `thread 'main' panicked at src/main.rs:4:10:\nthe key is not there\nstack backtrace:\n${noise('   0: rust_begin_unwind')}`,
    "thread 'main' panicked at src/main.rs:4:10:",
    'the key is not there',
  ],
  go: [
    `panic: runtime error: index out of range [1]\n\ngoroutine 1 [running]:\n${noise('main.main()')}`,
    'panic: runtime error: index out of range [1]',
  ],
  java: [
    `Exception in thread "main" java.lang.IllegalStateException: no key\n${STACK}Caused by: java.io.IOException: closed\n${STACK}`,
    'Exception in thread "main" java.lang.IllegalStateException: no key',
    'Caused by: java.io.IOException: closed',
  ],
  'java without a program': [
    `Error: Unable to access jarfile shop.jar\n${noise('usage')}`,
    'Error: Unable to access jarfile shop.jar',
  ],
  '.NET': [
    `Unhandled exception. System.IO.FileNotFoundException: shop.dll\n${STACK}`,
    'Unhandled exception. System.IO.FileNotFoundException: shop.dll',
  ],
  ruby: [
    `shop.rb:1:in 'start': no key (RuntimeError)\n${noise("\tfrom shop.rb:9:in '<main>'")}`,
    "shop.rb:1:in 'start': no key (RuntimeError)",
  ],
  'a shell': [`sh: 1: shop-server: not found\n${noise('bye')}`, 'sh: 1: shop-server: not found'],
  'a linker': [
    `./shop: error while loading shared libraries: libssl.so.1.1: cannot open shared object file\n${noise('bye')}`,
    './shop: error while loading shared libraries: libssl.so.1.1: cannot open shared object file',
  ],
  'a log': [
    `{"level":"error","msg":"no key"}\n${noise('{"level":"info","msg":"bye"}')}`,
    '{"level":"error","msg":"no key"}',
  ],
  'a usage text': [`--token is required\n${noise('usage: shop')}`, '--token is required'],
}

describe('what is shown of the standard error of a server that failed', () => {
  it.each(Object.entries(FAILURES))('has the line that matters: %s', (_name, [text, ...lines]) => {
    const shown = complain(text).split('\n')
    for (const line of lines) expect(shown).toContain(line)
    expect(shown.length).toBeLessThanOrEqual(20 + 4 + 1)
  })

  it('is the same however the text arrives', () => {
    const texts = Object.values(FAILURES).map(([text]) => text)
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.integer({ min: 1, max: 5_000 }), (text, size) => {
        const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
          text.slice(i * size, (i + 1) * size),
        )
        expect(complainIn(chunks)).toBe(complain(text))
      }),
      { numRuns: 50 },
    )
  })

  it('shows a short text as it is, and no line twice', () => {
    expect(complain('Starting\nError: no key\n    at start\n')).toBe('Starting\nError: no key\n    at start')
    expect(complain('')).toBe('')
  })

  it('keeps the first errors and the latest', () => {
    const errors = Array.from({ length: 100 }, (_, i) => `Error: number ${i}\n`).join('')
    expect(complain(errors, noise('bye')).split('\n').slice(0, 5)).toEqual([
      'Error: number 0',
      'Error: number 1',
      'Error: number 98',
      'Error: number 99',
      '…',
    ])
  })

  it('has no part of a secret', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000 }), (length) => {
        const shown = complain(`Error: ${'.'.repeat(length)}${SECRET}${'.'.repeat(20_000)}\n`, noise('bye'))
        expect(shown).not.toContain(SECRET.slice(0, 6))
      }),
    )
  })
})
