import { describe, expect, it } from 'vitest'
import { checkPeer, importPeer } from './peer.ts'

const failing = (message: string, code: string) => () =>
  Promise.reject<never>(Object.assign(new Error(message), { code }))

describe('importPeer', () => {
  it('returns an installed module', async () => {
    const { default: fc } = await importPeer('fast-check', () => import('fast-check'))
    expect(fc.assert).toBeTypeOf('function')
  })

  it.each([
    ["Cannot find package 'libsql' imported from /app/index.js", 'ERR_MODULE_NOT_FOUND'],
    ["Cannot find module 'libsql'\nRequire stack:\n- /app/index.js", 'MODULE_NOT_FOUND'],
    ["Cannot find package 'libsql/promise' imported from /app/index.js", 'ERR_MODULE_NOT_FOUND'],
  ])('R25 says how to install a missing package: %j', async (message, code) => {
    await expect(importPeer('libsql', failing(message, code))).rejects.toMatchObject({
      code: 'peer-missing',
      message: "The package 'libsql' is required here and is not installed. Run: npm install libsql",
      cause: { code },
    })
  })

  it('R25 says how to install a package that is really missing', async () => {
    const name = 'foldout-no-such-package'
    await expect(importPeer(name, () => import(/* @vite-ignore */ name))).rejects.toMatchObject({
      code: 'peer-missing',
    })
  })

  it.each([
    ["Cannot find module '@libsql/linux-x64-gnu'", 'MODULE_NOT_FOUND'],
    ['invalid ELF header', 'ERR_DLOPEN_FAILED'],
  ])('R25 distinguishes a broken package from a missing one: %j', async (message, code) => {
    await expect(importPeer('libsql', failing(message, code))).rejects.toMatchObject({
      code: 'peer-broken',
      message: `The package 'libsql' cannot be loaded, although it seems to be installed. Install it again: npm install libsql. The reason: ${message}`,
    })
  })
})

describe('checkPeer', () => {
  const failWith = (message: string, code: string) => () => {
    throw Object.assign(new Error(message), { code })
  }

  it('R25 says how to install a missing package, without loading it', () => {
    const resolve = failWith("Cannot find package 'libsql' imported from /app/index.js", 'ERR_MODULE_NOT_FOUND')
    expect(() => checkPeer('libsql', resolve)).toThrow(
      "The package 'libsql' is required here and is not installed. Run: npm install libsql",
    )
  })

  it('R25 accepts a package that is installed, or a runtime that cannot resolve any', () => {
    for (const resolve of [() => 'file:///libsql', undefined, failWith('Not supported.', 'ERR_UNSUPPORTED')]) {
      expect(() => checkPeer('libsql', resolve)).not.toThrow()
    }
  })
})
