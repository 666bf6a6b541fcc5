import { Command } from 'commander'
import { type Context, createContext } from './context.ts'
import { toFailure } from './errors.ts'
import type { GlobalOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

/**
 * Creates the action of a command. `run` gets the context, then the command's arguments in order, then its options; they
 * have the types of the command's declaration.
 */
export type CreateAction = (
  run: (cli: Context, ...args: never[]) => Promise<void>,
) => (...args: unknown[]) => Promise<void>

export function actionsOf(terminal: Terminal): CreateAction {
  return (run) =>
    async (...args) => {
      const command = args.at(-1)
      if (!(command instanceof Command))
        throw new TypeError('the last argument of an action must be its command')
      const cli = await createContext(terminal, command.optsWithGlobals<GlobalOptions>())
      try {
        await run(cli, ...(args.slice(0, -1) as never[]))
      } catch (cause) {
        if (terminal.signal.aborted) throw cause
        throw toFailure(cause, cli.server)
      }
    }
}
