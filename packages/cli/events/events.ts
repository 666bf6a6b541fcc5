import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { isTransient, toFailure } from '../errors.ts'
import { Failure } from '../failure.ts'
import { logLine } from '../views.ts'
import { validateFilters } from './filters.ts'

const PAGE = 500
/** Below the platform's limit of 30 s and this program's timeout. */
const WAIT_S = 25
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

interface Options {
  readonly after?: string
  readonly follow?: true
  readonly type?: readonly string[]
  readonly limit?: number
}
type Filters = readonly string[] | undefined
type Page = Schemas['EventPage']

/** Prints the caller's events since a cursor. With `--follow`, also prints new events, across lost connections. */
export async function run(cli: Context, options: Options): Promise<void> {
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
