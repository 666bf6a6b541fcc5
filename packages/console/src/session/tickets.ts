import { ApiError, answerOf, type GetTicket, type RestClient, TicketRefusedError } from '@wheelhouse/sdk'

/** Refusals that asking again does not change. A conflict passes: the robot is away, or the page will see the end. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404])

/** Gets tickets for one part of a session with the session of this browser. */
export const ticketsFor =
  (rest: RestClient, sessionId: string, part: 'control' | 'watch'): GetTicket =>
  async () => {
    try {
      const path = { id: sessionId }
      return await answerOf(rest.POST('/api/sessions/{id}/ticket', { params: { path }, body: { part } }))
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status === 0) throw cause
      const { status, message, retryAfterS = 0 } = cause
      throw new TicketRefusedError(status, message, {
        final: FINAL.has(status),
        retryAfterMs: retryAfterS * 1_000,
      })
    }
  }
