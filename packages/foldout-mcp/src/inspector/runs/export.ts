import { createHash } from 'node:crypto'
import { readVersion } from '../../gateway/surroundings.ts'
import type { Redactor } from '../../gateway/traffic/redact.ts'
import type { Assets, Download } from '../http/server.ts'
import { MAX_EXPORTED_ITEMS } from '../limits.ts'
import { describeMessage, describeRun, describeSummary } from './describe.ts'
import type { RunModel } from './model.ts'
import { redactRun } from './redact.ts'
import { describeStep } from './steps.ts'

export interface ExportOptions {
  readonly redactor: Redactor
  readonly assets: Assets
}

/** The page size that the page requests. */
const CHUNK = 100

/** Exports a run as one self-contained HTML file: the page itself with the answers it would request, without secrets. */
export function exportRun(run: RunModel, { redactor, assets }: ExportOptions): Download {
  const safe = redactRun(run, redactor)
  const { id } = safe
  const answers: Record<string, unknown> = { 'runs/list {}': [describeSummary(safe)] }
  const put = (name: string, request: object, answer: unknown): void => {
    answers[`${name} ${JSON.stringify(request)}`] = answer
  }
  const view = describeRun(safe, 0)
  const steps = safe.steps.slice(0, MAX_EXPORTED_ITEMS).map(describeStep)
  const messages = safe.messages.slice(0, MAX_EXPORTED_ITEMS).map(describeMessage)
  put('runs/get', { id }, { ...view, steps: steps.length, messages: messages.length })
  for (let from = 0; from < steps.length; from += CHUNK)
    put('runs/steps', { id, from, count: CHUNK }, steps.slice(from, from + CHUNK))
  for (let from = 0; from < messages.length; from += CHUNK)
    put('runs/messages', { id, from, count: CHUNK }, messages.slice(from, from + CHUNK))
  const hello = { version: readVersion(), title: view.prompt || 'Run', views: ['runs'] }
  return {
    name: `run-${id.replaceAll(/[^\w-]/g, '')}.html`,
    type: 'text/html; charset=utf-8',
    bytes: Buffer.from(formatPage(assets, { hello, answers })),
  }
}

function formatPage(assets: Assets, recorded: object): string {
  const script = readText(assets, 'page.js').replaceAll('</script', '<\\/script')
  const style = readText(assets, 'style.css').replaceAll('</style', '<\\/style')
  // Nothing in the data can end its element, whatever a tool or a model wrote.
  const data = JSON.stringify(recorded).replaceAll('<', '\\u003c')
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
    `<script type="application/json" id="recorded">${data}</script>`,
    `<script type="module">${script}</script></body></html>`,
  ].join('\n')
}

function readText(assets: Assets, name: string): string {
  return assets.get(name)?.bytes.toString('utf8') ?? ''
}

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
