import { describe, expect, it } from 'vitest'
import { checkPeer, importPeer } from './peer.ts'

const failing = (message: string, code: string) => () =>
  Promise.reject<never>(Object.assign(new Error(message), { code }))

describe('importPeer', () => {
  it('gives the module that is there', async () => {
    const { default: fc } = await importPeer('fast-check', () => import('fast-check'))
    expect(fc.assert).toBeTypeOf('function')
  })

  it.each([
    ["Cannot find package 'libsql' imported from /app/index.js", 'ERR_MODULE_NOT_FOUND'],
    ["Cannot find module 'libsql'\nRequire stack:\n- /app/index.js", 'MODULE_NOT_FOUND'],
    ["Cannot find package 'libsql/promise' imported from /app/index.js", 'ERR_MODULE_NOT_FOUND'],
  ])('R25 says how to install what is missing: %j', async (message, code) => {
    await expect(importPeer('libsql', failing(message, code))).rejects.toMatchObject({
      code: 'peer-missing',
      message: "The package 'libsql' is required here and is not installed. Run: npm install libsql",
      cause: { code },
    })
  })

  it('R25 says how a package really is missing', async () => {
    const name = 'foldout-no-such-package'
    await expect(importPeer(name, () => import(/* @vite-ignore */ name))).rejects.toMatchObject({
      code: 'peer-missing',
    })
  })

  it.each([
    ["Cannot find module '@libsql/linux-x64-gnu'", 'MODULE_NOT_FOUND'],
    ['invalid ELF header', 'ERR_DLOPEN_FAILED'],
  ])('R25 tells a package that is broken from one that is missing: %j', async (message, code) => {
    await expect(importPeer('libsql', failing(message, code))).rejects.toMatchObject({
      code: 'peer-broken',
      message: `The package 'libsql' cannot be loaded, though it seems to be installed. Install it again: npm install libsql. The reason: ${message}`,
    })
  })
})

describe('checkPeer', () => {
  const failWith = (message: string, code: string) => () => {
    throw Object.assign(new Error(message), { code })
  }

  it('R25 says how to install what is missing, without loading it', () => {
    const resolve = failWith("Cannot find package 'libsql' imported from /app/index.js", 'ERR_MODULE_NOT_FOUND')
    expect(() => checkPeer('libsql', resolve)).toThrow(
      "The package 'libsql' is required here and is not installed. Run: npm install libsql",
    )
  })

  it('R25 says nothing where a package is there, or nothing can be resolved', () => {
    for (const resolve of [() => 'file:///libsql', undefined, failWith('Not supported.', 'ERR_UNSUPPORTED')]) {
      expect(() => checkPeer('libsql', resolve)).not.toThrow()
    }
  })
})
