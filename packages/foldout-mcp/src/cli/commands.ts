import { addCompletion } from './completion.ts'
import { addConfigureCommands } from './configure/commands.ts'
import { addGatewayCommands } from './gateway-commands.ts'
import type { AddCommands } from './options.ts'

/** Every command of the program, in the order of its help. Each group registers its own and loads what it runs when it runs. */
export const COMMANDS: readonly AddCommands[] = [addGatewayCommands, addConfigureCommands, addCompletion]
