import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../database/tables.ts'

/** A domain event that waits for the outbox relay. Inserted with the change it describes, removed once published. */
export const OutboxEvent = defineEntity({
  name: 'OutboxEvent',
  tableName: 'outbox',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    name: p.text(),
    payload: p.json<unknown>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OutboxEvent = InferEntity<typeof OutboxEvent>

declare module '../database/tables.ts' {
  interface Tables extends TablesOf<typeof OutboxEvent> {}
}
