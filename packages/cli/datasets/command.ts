import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectList, integer } from '../option-parsers.ts'

const DATASET = 'its id, a prefix of the id, or the name of its robot'
const EXPORT = 'its id, a prefix of the id, or its name for the newest version'
const MAX_FPS = 120

/** Declares `wheelhouse datasets …`. */
export function addDatasets(program: Command, lazyAction: LazyAction): void {
  const datasets = program.command('datasets').description('datasets of your robots, and their exports')
  addReading(datasets, lazyAction)
  addExports(datasets, lazyAction)
}

function addReading(datasets: Command, lazyAction: LazyAction): void {
  datasets
    .command('list', { isDefault: true })
    .description('list the datasets of your robots')
    .action(lazyAction(() => import('./list.ts')))
  datasets
    .command('episodes')
    .description('list the episodes of a dataset, newest first')
    .argument('<dataset>', DATASET)
    .option('--limit <number>', 'largest number of episodes', integer(1, 100_000), 50)
    .action(lazyAction(() => import('./episodes.ts')))
}

function addExports(datasets: Command, lazyAction: LazyAction): void {
  datasets
    .command('export')
    .description('export recorded episodes as a LeRobot dataset, which the platform writes in the background')
    .requiredOption(
      '--name <name>',
      'name of the dataset; the same name again makes its next version, which replaces the earlier ones',
    )
    .requiredOption(
      '--fps <number>',
      'rows per second; use the frame rate of the cameras',
      integer(1, MAX_FPS),
    )
    .option('--episodes <ids>', 'ids of episodes, separated by commas; repeatable', collectList)
    .option(
      '--datasets <datasets>',
      `all recorded episodes of these datasets, separated by commas; repeatable; each: ${DATASET}`,
      collectList,
    )
    .option(
      '--cameras <names>',
      'names of cameras, separated by commas (default: those that all episodes have)',
      collectList,
    )
    .addOption(
      new Option(
        '--gaps <what>',
        'what to do with episodes whose recording lacks more than a second: leave them out, cut them there, or include them',
      )
        .choices(['leave-out', 'cut', 'include'])
        .default('leave-out'),
    )
    .addOption(
      new Option(
        '--alignment <which>',
        'the sample of the telemetry that a row has: the last one up to it (causal), or the nearest one',
      )
        .choices(['causal', 'nearest'])
        .default('causal'),
    )
    .option('--unfinished', 'export episodes as well that were not ended before their session')
    .option('--wait', 'wait until the dataset is ready')
    .action(lazyAction(() => import('./export.ts')))
  datasets
    .command('exports')
    .description('list your exported datasets, newest first')
    .action(lazyAction(() => import('./exports.ts')))
  datasets
    .command('export-status')
    .description('show an exported dataset and its progress')
    .argument('<export>', EXPORT)
    .action(lazyAction(() => import('./export-status.ts')))
  datasets
    .command('download-export')
    .description('download the files of an exported dataset; continues an interrupted download')
    .argument('<export>', EXPORT)
    .requiredOption('-o, --output <folder>', 'write into this folder')
    .option('--force', 'replace existing files with other content')
    .action(lazyAction(() => import('./download-export.ts')))
  datasets
    .command('delete-export')
    .description('cancel an export, or delete the exported dataset and its files')
    .argument('<export>', EXPORT)
    .action(lazyAction(() => import('./delete-export.ts')))
}
