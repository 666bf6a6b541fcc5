import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'
import { type ControlMode, RobotCategory } from './robot-model.schema.ts'

/** A supported robot model. */
export const RobotModel = defineEntity({
  name: 'RobotModel',
  tableName: 'robot_models',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    manufacturer: p.text(),
    robotType: p.text(),
    category: p.enum(RobotCategory.options),
    degreesOfFreedom: p.integer(),
    controlModes: p.array<(typeof ControlMode.options)[number]>(),
    notes: p.text().nullable(),
    /** The commands that robots of this model accept; null while none is declared. Lists omit it. */
    controlSchema: p.json<Record<string, unknown>>().nullable().lazy(),
    /** The telemetry that robots of this model send; null while none is declared. Lists omit it. */
    telemetrySchema: p.json<Record<string, unknown>>().nullable().lazy(),
  },
})
export type RobotModel = InferEntity<typeof RobotModel>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof RobotModel> {}
}
