import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { User } from '../identity/user.entity.ts'
import type { Slot } from './schedule.schema.ts'

/** An operator's week. One row, so that it is replaced as a whole or not at all. */
export const OperatorSchedule = defineEntity({
  name: 'OperatorSchedule',
  tableName: 'operator_schedules',
  properties: {
    user: () => p.manyToOne(User).mapToPk().primary().deleteRule('cascade'),
    timezone: p.text(),
    /** Sorted, without overlaps. */
    slots: p.json<Slot[]>(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OperatorSchedule = InferEntity<typeof OperatorSchedule>
