import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { parseTime } from '../option-parsers.ts'
import { SESSION_STATUSES } from '../sessions/statuses.ts'

/** `wheelhouse export`: sessions, datasets and episodes as a file. */
export function addExport(program: Command, lazyAction: LazyAction): void {
  const command = program
    .command('export')
    .description('write your sessions, datasets or episodes to a file or to standard output')
    .addArgument(
      program
        .createArgument('[what]', 'what to write')
        .choices(['sessions', 'datasets', 'episodes'])
        .default('sessions'),
    )
    .addOption(
      new Option('-f, --format <format>', 'how (default: csv; json to standard output with --json)').choices([
        'csv',
        'json',
      ]),
    )
    .option(
      '-o, --output <file>',
      'into this file, which appears once it is complete; - is standard output',
      '-',
    )
    .addOption(new Option('--status <status>', 'only sessions that stand so').choices(SESSION_STATUSES))
    .option('--robot <robot>', 'only sessions on this robot: its id, the beginning of that, or its name')
    .option('--from <time>', 'only sessions made at this time or later', parseTime)
    .option('--to <time>', 'only sessions made before this time', parseTime)
    .option('--dataset <dataset>', 'only episodes of this dataset: its id, or the beginning of that')
  command.action(lazyAction(() => import('./export.ts')))
}
