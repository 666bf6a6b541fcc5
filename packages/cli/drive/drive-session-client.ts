import { answerOf, createRestClient, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** REST requests of a drive session, which also work after Ctrl-C. */
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
 * Creates a separate REST client, because Ctrl-C ends the requests of the command and the program must still end the
 * session. Renews the credential periodically.
 */
export async function openSessionClient(cli: Context, sessionId: string): Promise<SessionClient> {
  let token = await cli.token()
  const renew = async () => {
    // Without a response, the next interval tries again.
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
