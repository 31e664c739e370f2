import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type * as confidenceModule from '../packages/foldout/src/catalog/search/engine/confidence.ts'
import type * as engineModule from '../packages/foldout/src/catalog/search/engine/engine.ts'
import type * as searchIndexModule from '../packages/foldout/src/catalog/search/engine/search-index.ts'
import type * as tuningModule from '../packages/foldout/src/catalog/search/tuning.ts'

type SearchModules = typeof confidenceModule & typeof engineModule & typeof searchIndexModule & typeof tuningModule

const SOURCE = fileURLToPath(new URL('../packages/foldout/src/catalog/search', import.meta.url))
const OUT = fileURLToPath(new URL('../node_modules/.cache/foldout-search-bench', import.meta.url))
const MODULES = ['engine/confidence', 'engine/engine', 'engine/search-index', 'tuning']

/**
 * The search with its internals, compiled as published: without the wrappers that a TypeScript loader puts around functions,
 * which would be measured too.
 */
export async function buildSearch(): Promise<SearchModules> {
  await build({
    stdin: {
      contents: MODULES.map((name) => `export * from './${name}.ts'`).join('\n'),
      resolveDir: SOURCE,
      sourcefile: 'search.ts',
    },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    entryNames: 'search',
    outExtension: { '.js': '.mjs' },
    outdir: OUT,
  })
  return (await import(pathToFileURL(`${OUT}/search.mjs`).href)) as SearchModules
}
