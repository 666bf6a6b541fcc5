import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { CoreServices } from '../../core/core-services.ts'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import { createAttemptRecorder } from './attempt-recorder.ts'
import { createDeliveries } from './delivery.service.ts'
import { createDeliveryAttempts } from './delivery-attempts.ts'
import { createTurnEnd, WEBHOOK_DELIVERIES } from './delivery-queue.ts'
import { createRequester, type Requester } from './delivery-request.ts'
import { createWebhookSender } from './delivery-sender.ts'
import { createEventStreams } from './event-stream.service.ts'
import { createFanOut } from './fan-out.ts'
import { registerFanOutMetrics } from './fan-out-metrics.ts'
import { createLongPolling } from './long-polling.ts'
import { pinnedTo } from './pinned-lookup.ts'
import { createOutboundRetention } from './retention.ts'
import { createTargets, type Resolve, TargetRefused, type Targets } from './target.ts'
import { createAddressPolicy } from './target-address.ts'
import { createWebhooks } from './webhook.service.ts'

/** Time until the head of a response, and without data within its body. */
const SILENT_MS = 10_000

/** A response whose body arrives as long as the connection exists. */
interface OutboundResponse {
  readonly status: number
  readonly contentType: string
  readonly body: AsyncIterable<Buffer>
}

interface OutboundMessage {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Creates a function that requests an address that a user chose, and returns the response as it arrives. It follows the rules of
 * webhooks: it connects only to an address that it has just checked, on a new connection, and follows no redirects.
 */
const createStreamRequester =
  ({ targets, silentMs = SILENT_MS }: { targets: Targets; silentMs?: number }) =>
  /** @throws Error if there is no response, or TargetRefused if the address is not allowed */
  async (text: string, stop: AbortSignal, message: OutboundMessage = {}): Promise<OutboundResponse> => {
    const { method = 'GET', headers = {}, body } = message
    const { url, addresses } = await targets.check(text)
    return await new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
        agent: false, // reuses no connection of an earlier check and no proxy of the environment
        lookup: pinnedTo(addresses),
        signal: stop,
        timeout: silentMs,
      })
      request.on('timeout', () => request.destroy(new Error('The address sends nothing')))
      request.on('error', reject)
      request.on('response', (response: IncomingMessage) => {
        const { statusCode: status = 0 } = response
        // Errors of a body end its iteration. Without a reader, they must not end the process.
        response.on('error', () => {})
        resolve({ status, contentType: response.headers['content-type'] ?? '', body: bodyOf(response) })
      })
      request.end(body)
    })
  }

/** Returns the body. Its connection ends with the iteration. */
async function* bodyOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) yield chunk as Buffer
  } finally {
    response.destroy()
  }
}

/** Creates the client with which other modules send requests to addresses that users chose, under the rules of webhooks. */
const createOutboundClient = ({ targets, requester }: { targets: Targets; requester: Requester }) => ({
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

const EVENT_CLEAN_UP = cronQueue('event-clean-up', '* * * * *', 'Removes old events and webhook deliveries')
const DELIVERY_LIMITS = cronQueue(
  'delivery-limits',
  '*/10 * * * *',
  'Applies the limits on the number of events and deliveries',
)

export interface WebhookServicesOptions extends CoreServices {
  /** Networks that are not public and that webhooks may reach nevertheless. */
  readonly allowedNetworks: readonly string[]
  readonly resolve?: Resolve
}

/** Creates the services of event streams and webhooks. */
export function createWebhookServices(deps: WebhookServicesOptions) {
  const targets = createTargets({
    policy: createAddressPolicy(deps.allowedNetworks),
    ...(deps.resolve && { resolve: deps.resolve }),
  })
  const requester = createRequester({ ...deps, targets })
  const longPolling = createLongPolling(deps)
  registerFanOutMetrics(deps.metrics, { ...deps, longPolling })
  deps.jobs.register(
    WEBHOOK_DELIVERIES,
    createWebhookSender({
      ...deps,
      attempts: createDeliveryAttempts(deps),
      endTurn: createTurnEnd(deps),
      requester,
      record: createAttemptRecorder(deps),
      observe: deps.metrics.webhookAttempt,
    }),
  )
  const retention = createOutboundRetention(deps)
  deps.jobs.register(EVENT_CLEAN_UP, retention.removeOld)
  deps.jobs.register(DELIVERY_LIMITS, retention.removeSurplus)
  return {
    eventStreams: createEventStreams(deps),
    longPolling,
    webhooks: createWebhooks({ ...deps, targets }),
    deliveries: createDeliveries(deps),
    fanOut: createFanOut(deps),
    outboundClient: createOutboundClient({ targets, requester }),
  }
}
