import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'
import { MAX_ROBOTS } from './max-robots.ts'

/** Declares `wheelhouse simulate`: runs simulated robots. */
export function addSimulate(program: Command, lazyAction: LazyAction): void {
  program
    .command('simulate')
    .description('connect simulated robots as yours, until Ctrl-C; reuses the robots of earlier calls')
    .argument(
      '[count]',
      `number of robots, up to ${MAX_ROBOTS} (default: 1, or all of --token-file)`,
      integer(1, MAX_ROBOTS),
    )
    .option('--type <type>', 'type of new robots', 'diffdrive-demo')
    .option('--name <name>', 'name of new robots, before their number', 'Simulated')
    .option('--token-file <file>', 'use the robots of this file, as robots register --json prints them')
    .option('--lines', 'print line by line, also on a terminal')
    .action(lazyAction(() => import('./simulate.ts')))
}
