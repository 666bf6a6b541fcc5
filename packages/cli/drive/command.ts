import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'

/** Declares `wheelhouse drive`: drives a robot from a terminal. */
export function addDrive(program: Command, lazyAction: LazyAction): void {
  program
    .command('drive')
    .description('drive a robot with the keyboard; Ctrl-C stops it and releases it')
    .argument(
      '[target]',
      'a robot or your session: id, a prefix of the id, or name (default: your open session, or any available robot)',
    )
    .action(lazyAction(() => import('./drive.ts')))
}
