import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

/** `wheelhouse drive`: an operator at a terminal. */
export function addDrive(program: Command, lazyAction: LazyAction): void {
  program
    .command('drive')
    .description('drive a robot with the keyboard; Ctrl-C stops it and gives it back')
    .argument(
      '[which]',
      'a robot or your session: id, the beginning of that, or name (default: your open session, or any available robot)',
    )
    .action(lazyAction(() => import('./drive.ts')))
}
