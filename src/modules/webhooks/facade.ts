import type { Db } from '../../core/database/tables.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Secrets } from '../../core/secrets.ts'
import { createAttemptRecorder } from './attempt-recorder.ts'
import { createDeliveries } from './delivery.service.ts'
import { createDeliveryClaims } from './delivery-claims.ts'
import { createRequester } from './delivery-request.ts'
import { createWebhookSender } from './delivery-sender.ts'
import { createEventStreams } from './event-stream.service.ts'
import { createFanOut } from './fan-out.ts'
import { registerFanOutMetrics } from './fan-out-metrics.ts'
import { createLongPolling } from './long-polling.ts'
import { createOutboundRetention } from './retention.ts'
import { createTargets, type Resolve } from './target.ts'
import { createAddressPolicy } from './target-address.ts'
import { createWebhooks } from './webhook.service.ts'

export interface WebhookServicesOptions {
  readonly db: Db
  readonly transact: Transact
  readonly bus: Bus
  readonly secrets: Secrets
  readonly log: Log
  readonly metrics: Metrics
  readonly now: () => Date
  readonly report: (cause: unknown) => void
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
  const longPolling = createLongPolling(deps)
  registerFanOutMetrics(deps.metrics, { ...deps, longPolling })
  return {
    eventStreams: createEventStreams(deps),
    longPolling,
    webhooks: createWebhooks({ ...deps, targets }),
    deliveries: createDeliveries(deps),
    fanOut: createFanOut(deps),
    webhookSender: createWebhookSender({
      ...deps,
      claims: createDeliveryClaims(deps),
      requester: createRequester({ ...deps, targets }),
      record: createAttemptRecorder(deps),
      observe: deps.metrics.webhookAttempt,
    }),
    retention: createOutboundRetention(deps),
  }
}
