import { type Command, InvalidArgumentError } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectValues, integer } from '../option-parsers.ts'

const MAX_EVENTS = 1_000_000

/** `wheelhouse events`: what happens to one's sessions, robots and to oneself. */
export function addEvents(program: Command, lazyAction: LazyAction): void {
  program
    .command('events')
    .description('print your events, oldest first; as JSON Lines with --json')
    .option(
      '--after <cursor>',
      'only those numbered above this; oldest: all that are kept, latest: from now on (default: oldest, with --follow latest)',
      cursor,
    )
    .option('-f, --follow', 'go on with what happens, until Ctrl-C')
    .option(
      '--type <filter>',
      'only a type, or a family such as session.*; may be given several times',
      collectValues,
    )
    .option('--limit <number>', 'end after so many', integer(1, MAX_EVENTS))
    .action(lazyAction(() => import('./events.ts')))
}

/** As the platform takes them. */
function cursor(text: string): string {
  if (/^(oldest|latest|0|[1-9]\d{0,14})$/.test(text)) return text
  throw new InvalidArgumentError('Give the number of an event, oldest or latest.')
}
