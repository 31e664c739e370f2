/** Every place where a secret may be. */
export const SECRETS = {
  command: 'npx',
  args: [
    '-y',
    'srv',
    '--api-key',
    'SECRET1',
    '--token=SECRET2',
    'https://u:SECRET3@h/p?x=SECRET4',
    'ghp_SECRET5aaaaaaaaaaaaaaaaaaaa',
  ],
  env: { TOKEN: 'SECRET6', REF: '${REF}' },
}
export const REMOTE_SECRETS = { url: 'https://h/mcp?key=SECRET7', headers: { Authorization: 'Bearer SECRET8' } }
