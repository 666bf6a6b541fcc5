import { type Command, Option } from 'commander'
import type { Running } from '../commands.ts'

/** `wheelhouse robots …`: the robots of their owner. */
export function addRobots(program: Command, running: Running): void {
  const robots = program.command('robots').description('your robots')
  robots
    .command('list')
    .description('list your robots, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(['OFFLINE', 'AVAILABLE', 'IN_SESSION']))
    .action(running(() => import('./list.ts')))
}
