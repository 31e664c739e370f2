import type { CallStage, Stage } from '../call/call.ts'

/** Runs a stage of the user's own. Of a call that it passes on, only the arguments may be others. */
export function toStage(own: CallStage): Stage {
  return async (call, next) => {
    let isPassedOn = false
    const result = await own(call, ({ arguments: args }) => {
      isPassedOn = true
      call.record.arguments = args
      return next(args === call.arguments ? call : { ...call, arguments: args })
    })
    if (!isPassedOn && result.isError === true) call.record.refusal = 'denied'
    return result
  }
}
