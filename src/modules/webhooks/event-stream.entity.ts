import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/**
 * A domain event that the outbox relay has published and that waits for the fan-out to users' streams. Only the leading
 * relay inserts rows, so ids are in commit order.
 */
export const OutboundEvent = defineEntity({
  name: 'OutboundEvent',
  tableName: 'outbound_events',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    name: p.text(),
    payload: p.json<unknown>(),
    createdAt: p.datetime(3),
  },
})
export type OutboundEvent = InferEntity<typeof OutboundEvent>

/**
 * The newest and the last deleted event number of a user, and whether events of the user are stored. A user who has never
 * subscribed has no row.
 */
export const EventStream = defineEntity({
  name: 'EventStream',
  tableName: 'event_streams',
  properties: {
    /** The organization; that of a person is the personal one. */
    user: () => referenceTo('Organization').primary().deleteRule('cascade'),
    head: p.bigint('number'),
    prunedTo: p.bigint('number').default(0),
    subscribed: p.boolean().default(false),
    /** When a read, or a webhook that was created or enabled, last renewed the subscription. */
    renewedAt: p.datetime(3).nullable(),
  },
})
export type EventStream = InferEntity<typeof EventStream>

/** An event as its user may see it. `seq` has no gaps per user. */
export const UserEvent = defineEntity({
  name: 'UserEvent',
  tableName: 'user_events',
  properties: {
    /** The organization; that of a person is the personal one. */
    user: () => referenceTo('Organization').primary().deleteRule('cascade'),
    seq: p.bigint('number').primary(),
    id: p.uuid(),
    type: p.text(),
    data: p.json<Record<string, unknown>>(),
    createdAt: p.datetime(3),
    storedAt: p.datetime(3),
  },
})
export type UserEvent = InferEntity<typeof UserEvent>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof OutboundEvent | typeof EventStream | typeof UserEvent> {}
}
