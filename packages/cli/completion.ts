import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'

/**
 * Adds `wheelhouse complete <shell>`, which prints a script for the shell. The script runs `wheelhouse complete -- …` for
 * suggestions. Call it after the commands are declared, because it reads the whole program.
 */
export function addCompletion(program: Command): void {
  // The library has the types of another version of commander, whose used part is identical.
  const completion = tab(program as unknown as Parameters<typeof tab>[0])
  for (const command of completion.commands.values()) {
    for (const option of program.options) {
      const name = option.long?.slice(2)
      if (name === undefined || name === 'version' || command.options.has(name)) continue
      if (option.required) command.option(name, option.description, () => {})
      else command.option(name, option.description)
    }
  }
}
