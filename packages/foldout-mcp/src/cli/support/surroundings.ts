import type { Stream } from './text.ts'

/** The environment of a command. Tests pass their own. */
export interface Surroundings {
  readonly stdout: Stream & { write(text: string): unknown }
  readonly stderr: Stream & { write(text: string): unknown }
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly version: string
  /** Asks the user a question on the terminal. Missing if there is nobody to ask. */
  confirm?(question: string): Promise<boolean>
  /** Lets others write to standard output, which this program otherwise keeps for itself. */
  releaseOutput?(): void
}
