import { answerOf, createRestClient, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** What is asked of the platform about a session while it is driven, and after Ctrl-C too. */
export interface SessionClient {
  /** @throws ApiError */
  performAction(action: Schemas['SessionAction']): Promise<void>
  /** @throws ApiError */
  status(): Promise<Schemas['SessionStatus']>
  close(): void
}

const ANSWER_LIMIT_MS = 10_000
const RENEW_MS = 30_000

/**
 * A desk of its own, since the requests of a command end with Ctrl-C and the session still has to be given back then.
 * It keeps a credential at hand that is good.
 */
export async function openSessionClient(cli: Context, sessionId: string): Promise<SessionClient> {
  let token = await cli.token()
  const renew = async () => {
    // The platform may be away; then the next time.
    token = await cli.token().catch(() => token)
  }
  const timer = setInterval(() => void renew(), RENEW_MS)
  const rest = () =>
    createRestClient({
      baseUrl: cli.server,
      token,
      fetch: (request) => fetch(request, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }),
    })
  const params = { path: { id: sessionId } }
  return {
    performAction: async (action) =>
      void (await answerOf(rest().PATCH('/api/sessions/{id}', { params, body: { action } }))),
    status: async () => (await answerOf(rest().GET('/api/sessions/{id}', { params }))).status,
    close: () => clearInterval(timer),
  }
}
