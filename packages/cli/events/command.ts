import { type Command, InvalidArgumentError } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectValues, integer } from '../option-parsers.ts'

const MAX_EVENTS = 1_000_000

/** Declares `wheelhouse events`. */
export function addEvents(program: Command, lazyAction: LazyAction): void {
  program
    .command('events')
    .description('print your events, oldest first; as JSON Lines with --json')
    .option(
      '--after <cursor>',
      'only events after this number; oldest: all stored events; latest: from now on (default: oldest, with --follow latest)',
      cursor,
    )
    .option('-f, --follow', 'also print new events, until Ctrl-C')
    .option(
      '--type <filter>',
      'only events of a type, or of a family such as session.*; repeatable',
      collectValues,
    )
    .option('--limit <number>', 'end after this number of events', integer(1, MAX_EVENTS))
    .action(lazyAction(() => import('./events.ts')))
}

/** Parses a cursor of the platform. */
function cursor(text: string): string {
  if (/^(oldest|latest|0|[1-9]\d{0,14})$/.test(text)) return text
  throw new InvalidArgumentError('Enter the number of an event, oldest or latest.')
}
