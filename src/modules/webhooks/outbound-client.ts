import type { Requester } from './delivery-request.ts'
import { createStreamRequester } from './outbound-stream.ts'
import { TargetRefused, type Targets } from './target.ts'

/** Creates the client with which other modules send requests to addresses that users chose, under the rules of webhooks. */
export const createOutboundClient = ({ targets, requester }: { targets: Targets; requester: Requester }) => ({
  /** Returns why a URL is not allowed, or undefined if it is. Call it outside a transaction, because it resolves the name. */
  async problemOf(url: string): Promise<string | undefined> {
    try {
      await targets.check(url)
      return undefined
    } catch (cause) {
      if (cause instanceof TargetRefused) return cause.message
      throw cause
    }
  },
  post: requester.post,
  /** Requests an address, and returns the response as it arrives. */
  open: createStreamRequester({ targets }),
})
