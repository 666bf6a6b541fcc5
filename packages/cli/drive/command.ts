import type { Command } from 'commander'
import type { Running } from '../commands.ts'

/** `wheelhouse drive`: an operator at a terminal. */
export function addDrive(program: Command, running: Running): void {
  program
    .command('drive')
    .description('drive a robot with the keyboard; Ctrl-C stops it and gives it back')
    .argument(
      '[which]',
      'a robot or your session: id, the beginning of that, or name (default: your open session, or any available robot)',
    )
    .action(running(() => import('./drive.ts')))
}
