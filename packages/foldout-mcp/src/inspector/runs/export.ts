import { createHash } from 'node:crypto'
import { readVersion } from '../../shared/surroundings.ts'
import type { Redactor } from '../../gateway/policy/secrets/redact.ts'
import type { Assets, Download } from '../http/server.ts'
import { MAX_EXPORTED_ITEMS } from './limits.ts'
import { describeMessage, describeRun, describeSummary } from './describe.ts'
import type { RunModel } from './model.ts'
import { createPace, type Pause } from './pace.ts'
import { redactRun } from './redact.ts'
import { describeRunStep } from './steps.ts'

export interface ExportOptions {
  readonly redactor: Redactor
  readonly assets: Assets
}

/** The page size that the page requests. */
const CHUNK = 100

/**
 * A run as one HTML file that needs nothing else: the page itself, with the answers that it would ask for, without secrets. It is made
 * while it is sent, a little at a time, because runs are long and the process has other work.
 */
export function exportRun(run: RunModel, { redactor, assets }: ExportOptions): Download {
  return {
    name: `run-${run.id.replaceAll(/[^\w-]/g, '')}.html`,
    type: 'text/html; charset=utf-8',
    parts: writePage(run, redactor, assets),
  }
}

async function* writePage(run: RunModel, redactor: Redactor, assets: Assets): AsyncGenerator<string> {
  const script = readText(assets, 'page.js').replaceAll('</script', '<\\/script')
  const style = readText(assets, 'style.css').replaceAll('</style', '<\\/style')
  yield formatHead(script, style)
  const pause = createPace()
  const safe = await redactRun(run, redactor, pause)
  const hello = { version: readVersion(), title: safe.summary.prompt || 'Run', views: ['runs'], topics: [] }
  yield `<script type="application/json" id="recorded">{"hello":${formatData(hello)},"answers":{`
  yield* writeAnswers(safe, pause)
  yield `}}</script>\n<script type="module">${script}</script></body></html>\n`
}

/** What the page asks for, by the name of the action and its request. */
async function* writeAnswers(run: RunModel, pause: Pause): AsyncGenerator<string> {
  const { id } = run
  const steps = run.steps.slice(0, MAX_EXPORTED_ITEMS)
  const messages = run.messages.slice(0, MAX_EXPORTED_ITEMS)
  const view = { ...describeRun(run, 0), steps: steps.length, messages: messages.length }
  yield `${formatKey('runs/list', {})}:${formatData([describeSummary(run)])},`
  yield `${formatKey('runs/get', { id })}:${formatData(view)}`
  for (let from = 0; from < steps.length; from += CHUNK) {
    yield `,${formatKey('runs/steps', { id, from, count: CHUNK })}:[`
    yield* writeItems(steps.slice(from, from + CHUNK), (step, i) => describeRunStep(run, step, from + i), pause)
    yield ']'
  }
  for (let from = 0; from < messages.length; from += CHUNK) {
    yield `,${formatKey('runs/messages', { id, from, count: CHUNK })}:[`
    yield* writeItems(messages.slice(from, from + CHUNK), (message, i) => describeMessage(message, from + i), pause)
    yield ']'
  }
}

async function* writeItems<Item>(
  items: readonly Item[],
  describe: (item: Item, index: number) => object,
  pause: Pause,
): AsyncGenerator<string> {
  for (const [i, item] of items.entries()) {
    await pause()
    yield `${i === 0 ? '' : ','}${formatData(describe(item, i))}`
  }
}

function formatKey(name: string, request: object): string {
  return formatData(`${name} ${JSON.stringify(request)}`)
}

/** Nothing in the data can end its element, whatever a tool or a model wrote. */
function formatData(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

function formatHead(script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark"><title>Foldout run</title>',
    `<style>${style}</style></head><body><div id="page"></div>`,
    '',
  ].join('\n')
}

function readText(assets: Assets, name: string): string {
  return assets.get(name)?.bytes.toString('utf8') ?? ''
}

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
