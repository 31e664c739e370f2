import type { ProviderAdapter } from '../../../adapters/contract.ts'
import type { OpenAhead } from '../../../disclosure/ahead/rule.ts'
import type { Filesystem } from '../../../files/filesystem.ts'
import type { BoundPrompt, RenderOptions } from '../../../prompt/prompt.ts'
import type { Session } from '../../../session/session.ts'
import type { ToolContext } from '../../../tools/tool.ts'
import type { DelegateModels } from '../../delegate-models.ts'
import type { HostCall, HostCallOptions, HostReport, HostView } from './contract.ts'
import type { CallReport } from './report.ts'

/** What a view is made of. */
export interface ViewParts {
  readonly bound: Pick<BoundPrompt, 'prompt' | 'render'>
  readonly render: Omit<RenderOptions, 'session'>
  readonly filesystem: Filesystem | undefined
  readonly adapter: ProviderAdapter | undefined
  readonly delegates: DelegateModels | undefined
  readonly open: OpenAhead | undefined
  readonly report: HostReport & CallReport
  readonly session: Session
}

export function createContext(
  { filesystem, render }: Pick<ViewParts, 'filesystem' | 'render'>,
  { session, rendered }: Pick<HostView, 'session' | 'rendered'>,
  { id }: HostCall,
  { signal = new AbortController().signal, addsInPlace = false }: HostCallOptions,
): ToolContext {
  return {
    session,
    callId: id,
    idempotencyKey: id,
    signal,
    deadline: render.deadline,
    filesystem,
    prompt: rendered,
    addsInPlace,
  }
}
