import { SessionStatus } from '@wheelhouse/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Running } from '../commands.ts'

/** `wheelhouse export`: sessions, datasets and episodes as a file. */
export function addExport(program: Command, running: Running): void {
  const command = program
    .command('export')
    .description('write your sessions, datasets or episodes to a file or to standard output')
    .addArgument(
      program
        .createArgument('[what]', 'what to write')
        .choices(['sessions', 'datasets', 'episodes'])
        .default('sessions'),
    )
    .addOption(new Option('-f, --format <format>', 'how').choices(['csv', 'json']).default('csv'))
    .option(
      '-o, --output <file>',
      'into this file, which appears once it is complete; - is standard output',
      '-',
    )
    .addOption(new Option('--status <status>', 'only sessions that stand so').choices(SessionStatus.options))
    .option('--robot <id>', 'only sessions on this robot')
    .option('--from <time>', 'only sessions made at this time or later', time)
    .option('--to <time>', 'only sessions made before this time', time)
    .option('--dataset <id>', 'only episodes of this dataset')
  command.action(running(() => import('./export.ts')))
}

/** A moment as the platform takes it; a date alone is its beginning in UTC. */
function time(text: string): string {
  const date = new Date(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('Give a date such as 2026-11-01, or a time such as 2026-11-01T09:30:00Z.')
  }
  return date.toISOString()
}
