import { Command } from 'commander'
import type { Context } from './context.ts'
import type { GlobalOptions } from './global-options.ts'
import type { Terminal } from './terminal.ts'

/** A module with the work of one command. It gets the command's arguments in their order, then its options. */
interface CommandModule {
  readonly run: (cli: Context, ...args: never[]) => Promise<void>
}

/**
 * Makes the action of a command of a module that is loaded only when the command is called, so that the others cost
 * no time. Arguments and options have the types that the command's declaration gives them.
 */
export type LazyAction = (load: () => Promise<CommandModule>) => (...args: unknown[]) => Promise<void>

export function createLazyAction(terminal: Terminal): LazyAction {
  return (load) =>
    async (...args) => {
      const command = args.at(-1)
      if (!(command instanceof Command)) throw new TypeError('an action gets its command last')
      const { createContext } = await import('./context.ts')
      const cli = await createContext(terminal, command.optsWithGlobals<GlobalOptions>())
      try {
        const { run } = await load()
        await run(cli, ...(args.slice(0, -1) as never[]))
      } catch (cause) {
        if (terminal.signal.aborted) throw cause
        const { toFailure: explained } = await import('./errors.ts')
        throw explained(cause, cli.server)
      }
    }
}
