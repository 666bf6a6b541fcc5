import { EventFilter, MAX_EVENT_FILTERS, type OrganizationAction, PlatformEvent } from '@wheelhouse/protocol'
import type { Context } from 'koa'
import { z } from 'zod'
import { type Caller, type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { queryInteger } from '../../core/http/fields.ts'
import type { EventStreams, Page, Position } from './event-stream.service.ts'
import type { LongPolling } from './long-polling.ts'

/** Most events of a page. */
const PAGE_LIMIT = 500
/** Longest time that a request may wait for events. */
const MAX_WAIT_SECONDS = 30

const After = z
  .union(
    [z.literal('oldest'), z.literal('latest'), z.string().regex(/^(0|[1-9]\d{0,14})$/)],
    'must be oldest, latest or the seq of an event',
  )
  .default('oldest')
  .transform((text): Position => (text === 'oldest' || text === 'latest' ? text : Number(text)))
  .meta({
    description:
      'Returns events after this one: `next` of the previous response, or the `seq` of an event. `oldest`: from the ' +
      'oldest stored event. `latest`: only new events. Events are stored from your first request on, or from your first webhook on.',
    examples: ['41'],
  })

/** A comma-separated list in a query. */
const Types = z
  .string()
  .max(2_000)
  .meta({
    description: 'Returns only these: a comma-separated list of types or families such as `session.*`.',
    examples: ['session.*,robot.status'],
  })
  .transform((text) => text.split(','))
  .pipe(z.array(EventFilter).max(MAX_EVENT_FILTERS))

const EventPage = z
  .object({
    events: z.array(PlatformEvent),
    next: z.string().meta({ description: 'The cursor for the next request.', examples: ['41'] }),
    more: z.boolean().meta({
      description: 'Whether more events are available. If so, request the next page immediately.',
      examples: [false],
    }),
  })
  .meta({ id: 'EventPage', description: 'A page of your events, oldest first.' })

/** Creates the endpoint of a user's event stream, for programs that poll instead of receiving webhooks. */
export function streamEndpoints(deps: {
  eventStreams: EventStreams
  longPolling: LongPolling
  /** Throws if the caller has lost the permission, or the key of the caller has ended. */
  requireStill: (caller: Caller, action: OrganizationAction) => Promise<void>
}): Endpoint[] {
  const { eventStreams, longPolling, requireStill } = deps

  /** Reads the stream after each new event until the page has events or the time is over. */
  async function longPoll(
    request: { caller: Caller; http: Context; from: Position; waitMs: number },
    filter: Parameters<EventStreams['read']>[2],
  ): Promise<Page> {
    const { caller, http, waitMs } = request
    const wait = longPolling.open(caller)
    http.res.once('close', wait.close)
    const untilMs = performance.now() + Math.min(waitMs, validForMs(caller))
    try {
      for (let from = request.from; ; ) {
        wait.arm()
        const page = await eventStreams.read(caller.organization.id, from, filter)
        if (page.events.length > 0 || wait.ended || performance.now() >= untilMs) return page
        from = page.next
        await wait.wait(page.next, untilMs)
        await requireStill(caller, 'events.read') // what happened during the wait is for those who still may read it
      }
    } finally {
      http.res.off('close', wait.close)
      wait.close()
    }
  }

  return [
    endpoint({
      method: 'get',
      path: '/api/events',
      summary: 'Lists the events of your sessions, your robots and your notifications, oldest first',
      access: { action: 'events.read' },
      query: z.strictObject({
        after: After,
        types: Types.optional(),
        limit: queryInteger(1, PAGE_LIMIT).default(100),
        wait: queryInteger(0, MAX_WAIT_SECONDS)
          .default(0)
          .meta({ description: 'Seconds to wait for a new event.', examples: [25] }),
      }),
      response: [200, EventPage],
      errors: {
        410: {
          cursor_gone: 'when events after the cursor are no longer stored, or the stream has no such cursor',
        },
        429: { too_many_concurrent_requests: 'when too many of your requests wait for events' },
      },
      run: async ({ caller, http, query }) => {
        const { after: from, types, limit, wait } = query
        const page =
          wait === 0
            ? await eventStreams.read(caller.organization.id, from, { types, limit })
            : await longPoll({ caller, http, from, waitMs: wait * 1_000 }, { types, limit })
        return { ...page, next: String(page.next) }
      },
    }),
  ]
}

/** Returns how long the credential is valid. A request must not wait longer. */
function validForMs({ credential: { expiresAt } }: Caller): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - Date.now()
}
