import { installPackages } from '../../tools/install-packages.ts'

/** The folder with the packages of the encoder. */
export const ENCODER_FOLDER = import.meta.dirname

/** Installs the encoder beside this file if it is missing: 48 MB that most contributors do not need. */
export function installEncoder(): void {
  installPackages(ENCODER_FOLDER)
}
