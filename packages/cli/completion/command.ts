import type { Command } from 'commander'

/** Declares `wheelhouse complete` for the help. `addCompletion` replaces it with the implementation. */
export function declareCompletion(program: Command): void {
  program
    .command('complete')
    .description('print a script that completes commands in your shell: bash, zsh, fish or powershell')
    .argument('[shell]')
}
