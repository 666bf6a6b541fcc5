import { type Command, InvalidArgumentError } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'

/** `wheelhouse watch`: what happens in a session, or to robots, as it happens. */
export function addWatch(program: Command, lazyAction: LazyAction): void {
  program
    .command('watch')
    .description('watch a session live: state, telemetry, log and chat; s or space stops the robot')
    .argument('[session]', 'its id, or the beginning of that (default: your only open one)')
    .option('--robots', 'the board of your robots instead')
    .option('--lines', 'line by line, also on a terminal')
    .option('--after <seq>', 'the log from behind this entry on', integer(0, Number.MAX_SAFE_INTEGER), 0)
    .option('--telemetry <rate>', 'samples a second at most, line by line; 0: none', rate, 1)
    .action(lazyAction(() => import('./watch.ts')))
}

function rate(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 100)) {
    throw new InvalidArgumentError('Give a number from 0 to 100.')
  }
  return value
}
