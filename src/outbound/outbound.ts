import type { Db } from '../db/orm.ts'
import type { Bus } from '../events/bus.ts'
import type { Transact } from '../events/transactor.ts'
import type { Log } from '../log.ts'
import type { Secrets } from '../secrets.ts'
import { createDeliveries } from './delivery.service.ts'
import { createFanOut } from './fan-out.ts'
import { createEventStreams } from './stream.service.ts'
import { createEventWaits } from './stream.waits.ts'
import { createAddressPolicy } from './target.address.ts'
import { createTargets, type Resolve } from './target.ts'
import { createWebhooks } from './webhook.service.ts'

export interface OutboundParts {
  readonly db: Db
  readonly transact: Transact
  readonly bus: Bus
  readonly secrets: Secrets
  readonly log: Log
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
  return {
    eventStreams: createEventStreams(parts),
    eventWaits: createEventWaits(parts),
    webhooks: createWebhooks({ ...parts, targets }),
    deliveries: createDeliveries(parts),
    fanOut: createFanOut(parts),
  }
}
export type Outbound = ReturnType<typeof createOutbound>
