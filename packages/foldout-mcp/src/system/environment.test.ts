import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it } from 'vitest'
import { getInheritedVariables, getVariable, joinEnvironments } from './environment.ts'

describe('R51 environment variables', () => {
  it('have the same name in upper and lower case on Windows only', () => {
    expect(getVariable({ Path: 'C:\\bin' }, 'PATH', 'win32')).toBe('C:\\bin')
    expect(getVariable({ Path: 'C:\\bin', PATH: 'D:\\bin' }, 'PATH', 'win32')).toBe('D:\\bin')
    expect(getVariable({ Path: '/bin' }, 'PATH', 'linux')).toBeUndefined()
    for (const platform of ['win32', 'linux'] as const) expect(getVariable({}, 'constructor', platform)).toBeUndefined()
  })

  it('of a server replace those that every server gets, also in another case on Windows', () => {
    const parts = [{ PATH: 'C:\\Windows', TEMP: 'C:\\Temp' }, { Path: 'C:\\bin' }, { A: '1' }]
    expect(joinEnvironments(parts, 'win32')).toEqual({ Path: 'C:\\bin', TEMP: 'C:\\Temp', A: '1' })
    expect(joinEnvironments(parts, 'linux')).toEqual({ PATH: 'C:\\Windows', TEMP: 'C:\\Temp', Path: 'C:\\bin', A: '1' })
  })

  it('that every server gets are those of the official SDK, and no functions', () => {
    expect(getInheritedVariables()).toEqual(getDefaultEnvironment())
    expect(getInheritedVariables({ HOME: '() { :; }', PATH: '/bin', TOKEN: 'secret' }, 'linux')).toEqual({
      PATH: '/bin',
    })
    expect(getInheritedVariables({ Path: 'C:\\bin', HOME: '/root' }, 'win32')).toEqual({ PATH: 'C:\\bin' })
  })
})
