import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../database/tables.ts'

/** A fact waiting to be told to the hub. Written with the change it tells of, removed once published. */
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
