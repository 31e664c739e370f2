import { OutputParseError, type OutputSpec } from '../../prompt/output.ts'

type Parsed =
  | { readonly type: 'parsed'; readonly value: unknown }
  | { readonly type: 'repair'; readonly message: string }

/** The answer as the output schema gives it, or what to tell the model so that it mends it. */
export function repairOrParse(output: OutputSpec<unknown> | undefined, text: string, mayRepair: boolean): Parsed {
  if (!output) return { type: 'parsed', value: undefined }
  try {
    return { type: 'parsed', value: output.parse(text) }
  } catch (error) {
    if (!mayRepair || !(error instanceof OutputParseError)) throw error
    return { type: 'repair', message: error.message }
  }
}
