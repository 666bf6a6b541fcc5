import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

/** A request for a robot type that is not supported yet. */
export const RobotRequest = defineEntity({
  name: 'RobotRequest',
  tableName: 'robot_requests',
  properties: {
    id: p.uuid().primary(),
    email: p.text(),
    robotType: p.text(),
    name: p.text().nullable(),
    details: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RobotRequest = InferEntity<typeof RobotRequest>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof RobotRequest> {}
}
