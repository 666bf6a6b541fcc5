import { ApiError, answerOf, type GetTicket, type RestClient, TicketRefusedError } from '@wheelhouse/sdk'

/** Statuses that a retry does not change. A conflict (409) is temporary: the robot is offline or the session is ending. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404])

/** Returns a function that requests tickets for one part of a session. */
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
