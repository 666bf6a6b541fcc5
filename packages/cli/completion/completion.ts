import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'

/**
 * `wheelhouse complete <shell>` prints a script for the shell, which asks `wheelhouse complete -- …` for suggestions.
 * Reads the whole program, so it comes after all else.
 */
export function addCompletion(program: Command): void {
  // The library's types are of another version of commander, which says the same in all that is used here.
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
