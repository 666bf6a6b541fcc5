import type { Db } from '../../core/database/tables.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Secrets } from '../../core/secrets.ts'
import { createDeliveries } from './delivery.service.ts'
import { createDeliveryClaims } from './delivery-claims.ts'
import { createDeliveryRecords } from './delivery-records.ts'
import { createRequester } from './delivery-request.ts'
import { createWebhookSender } from './delivery-sender.ts'
import { createFanOut } from './fan-out.ts'
import { measureOutbound } from './outbound-metrics.ts'
import { createOutboundRetention } from './retention.ts'
import { createEventStreams } from './stream.service.ts'
import { createEventWaits } from './stream-waits.ts'
import { createTargets, type Resolve } from './target.ts'
import { createAddressPolicy } from './target-address.ts'
import { createWebhooks } from './webhook.service.ts'

export interface OutboundParts {
  readonly db: Db
  readonly transact: Transact
  readonly bus: Bus
  readonly secrets: Secrets
  readonly log: Log
  readonly metrics: Metrics
  readonly now: () => Date
  readonly report: (cause: unknown) => void
  /** Networks that webhooks may reach although they are not public. */
  readonly allowedNetworks: readonly string[]
  readonly resolve?: Resolve
}

/** What programs of others are told: streams of events, and webhooks. */
export function createOutbound(parts: OutboundParts) {
  const targets = createTargets({
    policy: createAddressPolicy(parts.allowedNetworks),
    ...(parts.resolve && { resolve: parts.resolve }),
  })
  const eventWaits = createEventWaits(parts)
  measureOutbound(parts.metrics, { ...parts, eventWaits })
  return {
    eventStreams: createEventStreams(parts),
    eventWaits,
    webhooks: createWebhooks({ ...parts, targets }),
    deliveries: createDeliveries(parts),
    fanOut: createFanOut(parts),
    webhookSender: createWebhookSender({
      ...parts,
      claims: createDeliveryClaims(parts),
      requester: createRequester({ ...parts, targets }),
      record: createDeliveryRecords(parts),
      observe: parts.metrics.webhookAttempt,
    }),
    outboundRetention: createOutboundRetention(parts),
  }
}
export type Outbound = ReturnType<typeof createOutbound>
