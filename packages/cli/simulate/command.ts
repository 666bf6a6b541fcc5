import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'
import { MAX_ROBOTS } from './max-robots.ts'

/** `wheelhouse simulate`: robots without robots. */
export function addSimulate(program: Command, lazyAction: LazyAction): void {
  program
    .command('simulate')
    .description('let simulated robots connect as yours, until Ctrl-C; those of earlier calls come back')
    .argument(
      '[count]',
      `how many, up to ${MAX_ROBOTS} (default: 1, or all of --token-file)`,
      integer(1, MAX_ROBOTS),
    )
    .option('--type <type>', 'robot type of new ones', 'diffdrive-demo')
    .option('--name <name>', 'name of new ones, before their number', 'Simulated')
    .option('--token-file <file>', 'robots as their registration showed them, instead of your own')
    .option('--lines', 'line by line, also on a terminal')
    .action(lazyAction(() => import('./simulate.ts')))
}
