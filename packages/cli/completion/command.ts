import type { Command } from 'commander'

/** Told in the help; the work is done by what `addCompletion` puts in its place. */
export function declareCompletion(program: Command): void {
  program
    .command('complete')
    .description('print a script that completes commands in your shell: bash, zsh, fish or powershell')
    .argument('[shell]')
}
