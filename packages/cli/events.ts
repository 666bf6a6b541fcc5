import { setTimeout as delay } from 'node:timers/promises'
import { EventFilter } from '@wheelhouse/protocol'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import { type Command, InvalidArgumentError } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { isTransient, toFailure } from './lib/errors.ts'
import { Failure } from './lib/failure.ts'
import { collectValues, integer } from './lib/options.ts'
import { logLine } from './lib/views.ts'

const MAX_EVENTS = 1_000_000

export const commands = { events: declareEvents }

/** Declares `wheelhouse events`. */
function declareEvents(command: Command, action: CreateAction): void {
  command
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
    .action(action(events))
}

/** Parses a cursor of the platform. */
function cursor(text: string): string {
  if (/^(oldest|latest|0|[1-9]\d{0,14})$/.test(text)) return text
  throw new InvalidArgumentError('Enter the number of an event, oldest or latest.')
}

const PAGE = 500
/** Below the platform's limit of 30 s and this program's timeout. */
const WAIT_S = 25
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

interface EventsOptions {
  readonly after?: string
  readonly follow?: true
  readonly type?: readonly string[]
  readonly limit?: number
}
type Filters = readonly string[] | undefined
type Page = Schemas['EventPage']

/** Prints the caller's events since a cursor. With `--follow`, also prints new events, across lost connections. */
async function events(cli: Context, options: EventsOptions): Promise<void> {
  const { follow = false, limit = Number.POSITIVE_INFINITY } = options
  const types = validateFilters(options.type)
  const read = follow ? followPages(cli, types) : (after: string) => pageOf(cli, types, { after, limit })
  let after = options.after ?? (follow ? 'latest' : 'oldest')
  for (let left = limit; left > 0; ) {
    const page = await read(after)
    const events = page.events.slice(0, left)
    for (const event of events) show(cli, event)
    left -= events.length
    after = page.next
    if (!follow && !page.more) break
  }
  if (!follow && !cli.out.json) cli.out.note(`Continue with: wheelhouse events --after ${after}`)
}

function show({ out }: Context, event: Page['events'][number]): void {
  if (out.json) return out.entry(event)
  const { seq, created_at: at, type, data } = event
  out.line(...logLine({ seq, at, type, data }))
}

/** Returns one page. @throws Failure for a cursor whose next events are deleted; ApiError */
async function pageOf(
  cli: Context,
  filters: Filters,
  query: { after: string; limit?: number; wait?: number },
): Promise<Page> {
  const types = filters && { types: filters.join(',') }
  const limit = Math.min(PAGE, query.limit ?? PAGE)
  try {
    return await answerOf(cli.rest.GET('/api/events', { params: { query: { ...query, ...types, limit } } }))
  } catch (cause) {
    if (!(cause instanceof ApiError && cause.status === 410)) throw cause
    const next =
      'Read the current state (sessions, robots …), then continue with --after latest, or --after oldest for all stored events.'
    throw new Failure('not_found', `The events after ${query.after} are no longer stored. ${next}`, { cause })
  }
}

/**
 * Returns a function that reads the next page and waits for new events. The first request does not wait, so that
 * errors appear at once and the cursor becomes a number. Later requests retry while the platform is unreachable.
 */
function followPages(cli: Context, types: Filters): (after: string) => Promise<Page> {
  let answered = false
  let pauseMs = 0
  return async (after) => {
    for (;;) {
      try {
        const page = await pageOf(cli, types, { after, ...(answered && { wait: WAIT_S }) })
        if (pauseMs > 0) cli.out.note('The platform is reachable again.')
        answered = true
        pauseMs = 0
        return page
      } catch (cause) {
        if (!answered || cli.signal.aborted || !isTransient(cause)) throw cause
        if (pauseMs === 0) cli.out.note(`${toFailure(cause, cli.server).message} Trying again …`)
        pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS)
        const retryAfterS = cause instanceof ApiError ? (cause.retryAfterS ?? 0) : 0
        await delay(Math.max(pauseMs, retryAfterS * 1_000), undefined, { signal: cli.signal })
      }
    }
  }
}

/** Validates event filters. @throws Failure for a filter that matches no event type */
export function validateFilters(filters: readonly string[] | undefined): string[] | undefined {
  const wrong = filters?.find((filter) => !EventFilter.safeParse(filter).success)
  if (wrong === undefined) return filters && [...filters]
  const next = 'Enter a type such as robot.status, a family such as session.*, or *.'
  throw new Failure('usage', `No event type matches "${wrong}". ${next}`)
}
