import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'
import { BUCKET_COUNT } from './latency-histogram.ts'

/** How long the control frames of a session took, added up stretch by stretch. None for one never driven. */
export const SessionLatency = defineEntity({
  name: 'SessionLatency',
  tableName: 'session_latency',
  checks: [{ name: 'session_latency_buckets', expression: `cardinality("buckets") = ${BUCKET_COUNT}` }],
  properties: {
    session: () => referenceTo('Session').primary().deleteRule('cascade'),
    /** Frames by their age: see `bucketOf`. */
    buckets: p.array<number>(Number, String).columnType('bigint[]'),
    /** The oldest of them, in milliseconds. */
    maxMs: p.float().columnType('double precision'),
    /** Frames that reached the robot. */
    frames: p.bigint('number'),
    /** Frames that did not. */
    dropped: p.bigint('number'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type SessionLatency = InferEntity<typeof SessionLatency>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof SessionLatency> {}
}
