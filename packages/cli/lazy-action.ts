import { Command } from 'commander'
import type { Context } from './context.ts'
import type { GlobalOptions } from './global-options.ts'
import type { Terminal } from './terminal.ts'

/** The implementation of one command. `run` gets the command's arguments in order, then its options. */
interface CommandModule {
  readonly run: (cli: Context, ...args: never[]) => Promise<void>
}

/**
 * Creates the action of a command from a module that is loaded only when the command runs, so that the program starts
 * fast. Arguments and options have the types of the command's declaration.
 */
export type LazyAction = (load: () => Promise<CommandModule>) => (...args: unknown[]) => Promise<void>

export function createLazyAction(terminal: Terminal): LazyAction {
  return (load) =>
    async (...args) => {
      const command = args.at(-1)
      if (!(command instanceof Command))
        throw new TypeError('the last argument of an action must be its command')
      const { createContext } = await import('./context.ts')
      const cli = await createContext(terminal, command.optsWithGlobals<GlobalOptions>())
      try {
        const { run } = await load()
        await run(cli, ...(args.slice(0, -1) as never[]))
      } catch (cause) {
        if (terminal.signal.aborted) throw cause
        const { toFailure } = await import('./errors.ts')
        throw toFailure(cause, cli.server)
      }
    }
}
