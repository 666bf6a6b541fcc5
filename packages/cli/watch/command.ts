import { type Command, InvalidArgumentError } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'

/** Declares `wheelhouse watch`: shows a session or robots live. */
export function addWatch(program: Command, lazyAction: LazyAction): void {
  program
    .command('watch')
    .description('watch a session live: state, telemetry, log and chat; s or space stops the robot')
    .argument('[session]', 'its id, or a prefix of the id (default: your only open session)')
    .option('--robots', 'show the board of your robots instead')
    .option('--lines', 'print line by line, also on a terminal')
    .option('--after <seq>', 'only log entries after this number', integer(0, Number.MAX_SAFE_INTEGER), 0)
    .option('--telemetry <rate>', 'largest number of printed samples per second; 0 for none', rate, 1)
    .action(lazyAction(() => import('./watch.ts')))
}

function rate(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 100)) {
    throw new InvalidArgumentError('Enter a number from 0 to 100.')
  }
  return value
}
