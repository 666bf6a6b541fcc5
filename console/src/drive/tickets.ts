import { ApiError, answerOf, type GetTicket, type RestClient, TicketRefusedError } from '@wheelhouse/sdk'

/** Refusals that pass: too slow, too early, one too many. */
const PASSING: ReadonlySet<number> = new Set([0, 408, 425, 429])

/** Gets tickets with the page's own session. One request at a time, also where it waits for a new sign-in. */
export function controlTickets(rest: RestClient, sessionId: string): GetTicket {
  const path = { id: sessionId }
  let asking: ReturnType<GetTicket> | undefined

  /** A conflict is either a robot that is away or a session that is over: the session knows which. */
  async function isOpen(): Promise<boolean> {
    const answer = answerOf(rest.GET('/api/sessions/{id}', { params: { path } }))
    return answer.then(
      ({ status }) => status === 'ACTIVE' || status === 'PAUSED',
      () => true,
    )
  }

  async function ask(): ReturnType<GetTicket> {
    try {
      return await answerOf(
        rest.POST('/api/sessions/{id}/ticket', { params: { path }, body: { part: 'control' } }),
      )
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause
      const { status, message, retryAfterS = 0 } = cause
      const passes = PASSING.has(status) || status >= 500 || (status === 409 && (await isOpen()))
      throw new TicketRefusedError(status, message, { final: !passes, retryAfterMs: retryAfterS * 1_000 })
    }
  }

  return () => {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}
