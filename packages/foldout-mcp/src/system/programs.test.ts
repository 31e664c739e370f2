import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getBrowserCommand } from './open-browser.ts'
import { findProgram, getSystemFolder, stripShell, toCommandLine, toShellArguments } from './programs.ts'

describe('R54 the program of a command', () => {
  const find = (command: string, files: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    findProgram(command, {
      env: { Path: '"C:\\Program Files\\nodejs";C:\\bin', ...env },
      platform: 'win32',
      folder: 'D:\\work',
      isProgram: (file) => files.includes(file),
    })

  it('is found on Windows in the folders of Path, in quotes or not, with the endings of programs', () => {
    const npx = 'C:\\Program Files\\nodejs\\npx.cmd'
    expect(find('npx', ['C:\\bin\\npx.exe', npx])).toBe(npx)
    expect(find('npx.cmd', [npx])).toBe(npx)
    expect(find('node', ['C:\\bin\\node', 'C:\\bin\\node.js', 'C:\\bin\\node.exe'])).toBe('C:\\bin\\node.exe')
    expect(find('server.v2', ['C:\\bin\\server.v2.cmd'])).toBe('C:\\bin\\server.v2.cmd')
  })

  it('is found on Windows in the order of PATHEXT', () => {
    const files = ['C:\\bin\\a.cmd', 'C:\\bin\\a.exe']
    expect(find('a', files)).toBe('C:\\bin\\a.exe')
    expect(find('a', files, { PATHEXT: '.JS;.CMD;.EXE' })).toBe('C:\\bin\\a.cmd')
  })

  it('is not looked for in the current folder unless it is a path', () => {
    expect(find('npx', ['D:\\work\\npx.cmd'])).toBeUndefined()
    expect(find('.\\bin\\run', ['D:\\work\\bin\\run.bat'])).toBe('D:\\work\\bin\\run.bat')
    expect(find('bin/run', ['D:\\work\\bin\\run.exe'])).toBe('D:\\work\\bin\\run.exe')
    expect(find('E:\\run.exe', ['E:\\run.exe'])).toBe('E:\\run.exe')
  })

  it('is found on other systems by its whole name', () => {
    const place = { env: { PATH: '/usr/bin:/bin' }, platform: 'linux', folder: '/work' } as const
    const isProgram = (file: string): boolean => ['/bin/npx', '/work/bin/run'].includes(file)
    expect(findProgram('npx', { ...place, isProgram })).toBe('/bin/npx')
    expect(findProgram('bin/run', { ...place, isProgram })).toBe('/work/bin/run')
    expect(findProgram('run', { ...place, isProgram })).toBeUndefined()
  })
})

describe('R54 what is started for a command', () => {
  const files = new Set(['C:\\bin\\npx.cmd', 'C:\\bin\\node.exe', 'D:\\work\\server.js', 'D:\\work\\npm.cmd'])
  const place = { env: { PATH: 'C:\\bin' }, folder: 'D:\\work', isProgram: (file: string) => files.has(file) }
  const start = (command: string, platform: NodeJS.Platform = 'win32') =>
    toCommandLine(command, ['a b'], { ...place, platform })

  it('is the command itself, except on Windows', () => {
    const plain = { args: ['a b'], isVerbatim: false, isOther: false }
    expect(start('npx', 'linux')).toEqual({ command: 'npx', ...plain })
    expect(start('node')).toEqual({ command: 'C:\\bin\\node.exe', ...plain })
    // Missing commands, also those that only the current folder has: the error says so.
    for (const command of ['missing', 'C:\\missing', 'npm']) expect(start(command)).toEqual({ command, ...plain })
    expect(start('C:\\missing.cmd')).toMatchObject({ command: 'C:\\missing.cmd', isOther: true })
    expect(start('.\\server.js')).toEqual({ command: '.\\server.js', ...plain, isOther: true })
  })

  it('is the shell of Windows for a script', () => {
    expect(start('npx')).toEqual({
      command: 'C:\\Windows\\System32\\cmd.exe',
      args: ['/d', '/e:on', '/v:off', '/s', '/c', '""C:\\bin\\npx.cmd" ^"a^ b^""'],
      isVerbatim: true,
      isOther: false,
    })
  })
})

/** What `cmd.exe` makes of a line: outside quotes, `^` makes the next character plain, and others separate commands. */
function readAsShell(line: string): string {
  let isQuoted = false
  let text = ''
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at)
    if (!isQuoted && char === '^') {
      text += line.charAt(++at)
      continue
    }
    if (!isQuoted && '&|<>()'.includes(char)) throw new Error(`A command begins or ends at ${line.slice(at)}`)
    if (char === '"') isQuoted = !isQuoted
    text += char
  }
  return text
}

/** The arguments that a program of Windows finds in its command line. */
function readAsProgram(line: string): readonly string[] {
  const args: string[] = []
  let arg: string | undefined
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0
    const isBeforeQuote = line.charAt(at + slashes) === '"'
    if (slashes > 0) {
      arg = `${arg ?? ''}${'\\'.repeat(isBeforeQuote ? Math.floor(slashes / 2) : slashes)}`
      at += slashes - 1
      if (isBeforeQuote && slashes % 2 === 1) {
        arg += '"'
        at++
      }
      continue
    }
    const char = line.charAt(at)
    if (char === '"' && isQuoted && line.charAt(at + 1) === '"') {
      arg = `${arg ?? ''}"`
      at++
    } else if (char === '"') {
      isQuoted = !isQuoted
      arg ??= ''
    } else if (char === ' ' && !isQuoted) {
      if (arg !== undefined) args.push(arg)
      arg = undefined
    } else arg = `${arg ?? ''}${char}`
  }
  return arg === undefined ? args : [...args, arg]
}

/** The arguments that a script passes on as `%*`, for which the shell reads them twice. */
function passOn(args: readonly string[]): readonly string[] {
  const [line = ''] = toShellArguments('C:\\Program Files\\nodejs\\npx.cmd', args).slice(-1)
  const own = readAsShell(line.slice(1, -1))
  return readAsProgram(readAsShell(own)).slice(1)
}

describe('R54 the arguments of a script on Windows', () => {
  const part = fc.constantFrom(
    '"',
    '\\',
    '&',
    '|',
    '<',
    '>',
    '^',
    '%',
    '!',
    '(',
    ')',
    ' ',
    'a',
    ';',
    '*',
    "'",
    'PATH',
    'ü',
  )
  it('arrive unchanged, and never begin another command', () => {
    fc.assert(
      fc.property(fc.array(fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))), (args) => {
        expect(passOn(args)).toEqual(args)
      }),
    )
  })

  it('may be JSON with a URL', () => {
    const args = ['-y', 'server', '{"url":"https://x?a=1&b=2"}', 'C:\\My Files\\', '']
    expect(passOn(args)).toEqual(args)
    expect(toShellArguments('C:\\a b\\run.cmd', ['q"&calc', '%PATH%'])).toEqual([
      '/d',
      '/e:on',
      '/v:off',
      '/s',
      '/c',
      '""C:\\a b\\run.cmd" ^"q^"^"^&calc^" ^"^%PATH^%^""',
    ])
  })

  it('cannot have line breaks', () => {
    expect(() => toShellArguments('run.cmd', ['a\nb'])).toThrow('An argument has a line break')
  })
})

describe('R52 the shell of Windows', () => {
  it.each([
    [['cmd', '/c', 'npx', '-y', 'a']],
    [['cmd.exe', '/C', 'npx', '-y', 'a']],
    [['C:\\Windows\\System32\\cmd.exe', '/d', '/s', '/c', 'npx', '-y', 'a']],
  ])('is stripped from %j', (words) => {
    expect(stripShell(words)).toEqual(['npx', '-y', 'a'])
  })

  it.each([[['cmd', 'x', '/c', 'npx']], [['node', '/c', 'npx']], [['cmd']], [[]]])(
    'is not stripped from %j',
    (words) => {
      expect(stripShell(words)).toEqual(words)
    },
  )

  it('is in the folder of the system', () => {
    expect(getSystemFolder({ SYSTEMROOT: 'D:\\Windows' })).toBe('D:\\Windows\\System32')
    expect(getSystemFolder({})).toBe('C:\\Windows\\System32')
  })
})

describe('R55 the browser', () => {
  it('is the chosen one, or the one of the system', () => {
    expect(getBrowserCommand({ BROWSER: 'firefox' }, 'win32')).toEqual(['firefox'])
    expect(getBrowserCommand({}, 'win32')).toEqual(['rundll32', 'url.dll,FileProtocolHandler'])
    expect(getBrowserCommand({}, 'darwin')).toEqual(['open'])
    expect(getBrowserCommand({}, 'linux')).toEqual(['xdg-open'])
  })
})
