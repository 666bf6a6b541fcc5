/** The result of a request to a push service. */
export interface PushOutcome {
  readonly outcome: 'delivered' | 'rejected' | 'unreachable' | 'refused' | 'stopped'
  readonly status?: number
  readonly error?: string
  readonly retryAfterMs?: number
}

/**
 * Reaches push services. Endpoints come from users, so the composition root passes in the client that also posts to
 * webhooks: it checks the address, connects only to it, follows no redirects and limits time and size.
 */
export interface PushService {
  /** Returns why an endpoint is not allowed, or undefined if it is. */
  problemOf(endpoint: string): Promise<string | undefined>
  post(
    endpoint: string,
    message: { headers: Record<string, string>; body: Uint8Array },
    stop: AbortSignal,
  ): Promise<PushOutcome>
}
