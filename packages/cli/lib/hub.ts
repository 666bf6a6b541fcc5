import { HubClient, type HubClientOptions, HubClosedError } from '@wheelhouse/sdk'
import { Failure } from './failure.ts'
import type { Identity } from './identity.ts'

/**
 * Creates a client of the hub for the signed-in account. Renews a credential that the hub refuses before the next
 * attempt. Closes the client when only a new sign-in helps.
 */
export function createHubClient(
  identity: Identity,
  url: string,
  options: Partial<HubClientOptions>,
): HubClient {
  let lastToken = ''
  let isRefused = false
  let fatalFailure: Failure | undefined

  async function token(): Promise<string> {
    try {
      const renewedToken = isRefused ? await identity.renewed(lastToken) : undefined
      isRefused = false
      lastToken = renewedToken ?? (await identity.token())
      return lastToken
    } catch (cause) {
      if (!(cause instanceof Failure && cause.outcome === 'not_signed_in')) throw cause
      fatalFailure = cause
      client.close()
      throw cause
    }
  }

  const client = new HubClient({
    url,
    token,
    ...options,
    onAuthError: () => {
      isRefused = true
    },
    onClosed: (reason) =>
      options.onClosed?.(
        fatalFailure ? new HubClosedError(fatalFailure.message, { cause: fatalFailure }) : reason,
      ),
  })
  return client
}
