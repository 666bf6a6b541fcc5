import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'

const RECORDING = 'its id or that of its session, or a prefix of the id'
const SHARE = 'id of the link, or a prefix of the id'
const ROBOT = 'its id, a prefix of the id, or its name'
const MAX_SHARE_HOURS = 2_160

/** Declares `wheelhouse recordings …`. */
export function addRecordings(program: Command, lazyAction: LazyAction): void {
  const recordings = program
    .command('recordings')
    .description('recordings of your robots and of sessions that you operated')
  addReading(recordings, lazyAction)
  addShares(recordings, lazyAction)
}

function addReading(recordings: Command, lazyAction: LazyAction): void {
  recordings
    .command('list')
    .description('list the recordings of your robots and of sessions that you operated, newest first')
    .option('--robot <robot>', `only recordings of this robot: ${ROBOT}`)
    .option('--limit <number>', 'largest number of recordings', integer(1, 10_000), 50)
    .action(lazyAction(() => import('./list.ts')))
  recordings
    .command('show')
    .description('show a recording with its topics and gaps')
    .argument('<recording>', RECORDING)
    .action(lazyAction(() => import('./show.ts')))
  recordings
    .command('download')
    .description('download a recording as an MCAP file; continues an interrupted download')
    .argument('<recording>', RECORDING)
    .option('-o, --output <file>', 'write to this file or folder (default: a name from robot and time)', '.')
    .option('--force', 'replace an existing file')
    .action(lazyAction(() => import('./download.ts')))
  recordings
    .command('downloads')
    .description('list who has read a recording, newest first')
    .argument('<recording>', RECORDING)
    .action(lazyAction(() => import('./downloads.ts')))
  recordings
    .command('delete')
    .description('delete a recording and its files, as the owner of the robot')
    .argument('<recording>', RECORDING)
    .action(lazyAction(() => import('./delete.ts')))
}

function addShares(recordings: Command, lazyAction: LazyAction): void {
  recordings
    .command('share')
    .description(
      'create a link with which anyone can replay and download a recording; the link is shown only once',
    )
    .argument('<recording>', RECORDING)
    .option('--hours <number>', 'hours until the link expires', integer(1, MAX_SHARE_HOURS), 72)
    .action(lazyAction(() => import('./share.ts')))
  recordings
    .command('shares')
    .description('list the links of a recording')
    .argument('<recording>', RECORDING)
    .action(lazyAction(() => import('./shares.ts')))
  recordings
    .command('unshare')
    .description('revoke a link of a recording')
    .argument('<recording>', RECORDING)
    .argument('<share>', SHARE)
    .action(lazyAction(() => import('./unshare.ts')))
}
