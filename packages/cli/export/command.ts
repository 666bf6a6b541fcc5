import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { parseTime } from '../option-parsers.ts'
import { SESSION_STATUSES } from '../sessions/statuses.ts'

/** Declares `wheelhouse export`. */
export function addExport(program: Command, lazyAction: LazyAction): void {
  const command = program
    .command('export')
    .description('write your sessions, datasets or episodes to a file or to standard output')
    .addArgument(
      program
        .createArgument('[what]', 'type of the records')
        .choices(['sessions', 'datasets', 'episodes'])
        .default('sessions'),
    )
    .addOption(
      new Option(
        '-f, --format <format>',
        'file format (default: csv; json for standard output with --json)',
      ).choices(['csv', 'json']),
    )
    .option(
      '-o, --output <file>',
      'write to this file, which appears when it is complete; - for standard output',
      '-',
    )
    .addOption(new Option('--status <status>', 'only sessions with this status').choices(SESSION_STATUSES))
    .option('--robot <robot>', 'only sessions on this robot: its id, a prefix of the id, or its name')
    .option('--from <time>', 'only sessions created at or after this time', parseTime)
    .option('--to <time>', 'only sessions created before this time', parseTime)
    .option('--dataset <dataset>', 'only episodes of this dataset: its id, or a prefix of the id')
  command.action(lazyAction(() => import('./export.ts')))
}
