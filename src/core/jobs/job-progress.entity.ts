import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../database/tables.ts'

/** How far a long job is. The job itself is in the schema of pg-boss. */
export const JobProgress = defineEntity({
  name: 'JobProgress',
  tableName: 'job_progress',
  properties: {
    jobId: p.uuid().primary(),
    done: p.bigint('number'),
    total: p.bigint('number'),
    updatedAt: p.datetime(3),
  },
})
export type JobProgress = InferEntity<typeof JobProgress>

declare module '../database/tables.ts' {
  interface Tables extends TablesOf<typeof JobProgress> {}
}
