import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'
import { Robot } from './robot.entity.ts'

/** The newest pairing code of a robot. A new code replaces the row, so a robot has one code at most. */
export const RobotPairing = defineEntity({
  name: 'RobotPairing',
  tableName: 'robot_pairings',
  properties: {
    robot: () => p.manyToOne(Robot).mapToPk().primary().deleteRule('cascade'),
    /** A keyed hash: a copy of the database does not disclose codes. */
    codeHash: p.text(),
    /** The version of the token at the time of the code. A rotation of the token makes the code invalid. */
    tokenVersion: p.integer(),
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
  },
})
export type RobotPairing = InferEntity<typeof RobotPairing>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof RobotPairing> {}
}
