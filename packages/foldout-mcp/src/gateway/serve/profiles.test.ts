import { describe, expect, it } from 'vitest'
import { createProfiles, type Profile } from './profiles.ts'

const create = (): ReturnType<typeof createProfiles> =>
  createProfiles(
    (who) => ({ who }) as unknown as Profile,
    ({ client }) => client ?? '',
  )

const FULL = 'The rules distinguish more kinds of clients than the gateway can serve.'

describe('profiles of clients', () => {
  it('are shared by clients that the rules treat alike', () => {
    const profiles = create()
    expect(profiles.get({ client: 'a', user: 'ann' })).toBe(profiles.get({ client: 'a', user: 'bob' }))
    expect([...profiles.all()]).toHaveLength(1)
  })

  it('of one user, who invents names, leave room for the others', () => {
    const profiles = create()
    for (let i = 0; i < 16; i++) profiles.get({ client: `invented-${i}`, user: 'mallory' })
    expect(() => profiles.get({ client: 'one-more', user: 'mallory' })).toThrow(FULL)
    // What exists already is still served.
    profiles.get({ client: 'invented-3', user: 'mallory' })
    for (const user of ['ann', 'bob', undefined]) profiles.get({ client: `client of ${user}`, user })
  })

  it('have a limit for all users, and for clients without a token', () => {
    const profiles = create()
    for (let i = 0; i < 64; i++) profiles.get({ client: `free-${i}`, user: undefined })
    expect(() => profiles.get({ client: 'free', user: undefined })).toThrow(FULL)
    for (let i = 0; i < 192; i++) profiles.get({ client: `c-${i}`, user: `user-${i}` })
    expect(() => profiles.get({ client: 'c', user: 'last' })).toThrow(FULL)
  })
})
