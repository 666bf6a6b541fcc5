import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** A running media role. It renews `seenAt`. */
export const MediaNode = defineEntity({
  name: 'MediaNode',
  tableName: 'media_nodes',
  properties: {
    id: p.uuid().primary(),
    seenAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type MediaNode = InferEntity<typeof MediaNode>

/** A camera that a robot has published, and which media role forwards it now. */
export const Camera = defineEntity({
  name: 'Camera',
  tableName: 'cameras',
  properties: {
    robot: () => referenceTo('Robot').primary().deleteRule('cascade'),
    name: p.text().primary(),
    /** The owner's name for it; null to show `name`. */
    label: p.text().nullable(),
    position: p.integer(),
    /** The media role that forwards it; null while it is not published. No foreign key: a node's row may be removed first. */
    nodeId: p.uuid().nullable(),
    hasAudio: p.boolean().default(false),
    codec: p.text().nullable(),
    bitsPerSecond: p.integer().default(0),
    framesPerSecond: p.float().columnType('double precision').default(0),
    /** Time from capture to arrival at the platform; null if the robot does not send its clock. */
    latencyMs: p.integer().nullable(),
  },
})
export type Camera = InferEntity<typeof Camera>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof MediaNode | typeof Camera> {}
}
