import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** Latency of a session's control frames. Gateways add increments. A session without control frames has no row. */
export const SessionLatency = defineEntity({
  name: 'SessionLatency',
  tableName: 'session_latency',
  properties: {
    session: () => referenceTo('Session').primary().deleteRule('cascade'),
    /** Number of frames per latency bucket, see `bucketOf`. */
    buckets: p.array<number>(Number, String).columnType('bigint[]'),
    /** Highest latency in milliseconds. */
    maxMs: p.float().columnType('double precision'),
    /** Number of frames that reached the robot. */
    frames: p.bigint('number'),
    /** Number of frames that the gateway dropped. */
    dropped: p.bigint('number'),
    /** Time of driving under a latency budget with a known latency, in milliseconds; 0 without a budget. */
    budgetedMs: p.float().columnType('double precision').default(0),
    /** The integral of the speed scale over that time. */
    scaledMs: p.float().columnType('double precision').default(0),
    /** Time in which the scale was below 1, also because the latency was unknown. */
    limitedMs: p.float().columnType('double precision').default(0),
    /** The part of `limitedMs` in which the age of the operator's picture was the larger cause. */
    pictureLimitedMs: p.float().columnType('double precision').default(0),
    minSpeedScale: p.float().columnType('double precision').default(1),
    /** Number of frames by the age of the operator's picture, see `bucketOf`; null if the operator reported none. */
    videoBuckets: p.array<number>(Number, String).columnType('bigint[]').nullable(),
    /** Highest age of the picture of a frame that reached the robot, in milliseconds. */
    videoMaxMs: p.float().columnType('double precision').default(0),
    /** Number of frames that the gateway dropped because the picture was too old. */
    videoDropped: p.bigint('number').defaultRaw('0'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type SessionLatency = InferEntity<typeof SessionLatency>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof SessionLatency> {}
}
