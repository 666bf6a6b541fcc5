import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import type { Slot } from './schedule.schema.ts'

/** An operator's weekly schedule. It is one row, so a replacement is atomic. */
export const OperatorSchedule = defineEntity({
  name: 'OperatorSchedule',
  tableName: 'operator_schedules',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    timezone: p.text(),
    /** Sorted, without overlaps. */
    slots: p.json<Slot[]>(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OperatorSchedule = InferEntity<typeof OperatorSchedule>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof OperatorSchedule> {}
}
