import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** A running gateway process. It renews `seenAt`; the sweep disconnects the robots of a node that stops renewing. */
export const GatewayNode = defineEntity({
  name: 'GatewayNode',
  tableName: 'gateway_nodes',
  properties: {
    id: p.uuid().primary(),
    url: p.text(),
    startedAt: p.datetime(3).defaultRaw('now()'),
    /** The node shuts down and its robots reconnect elsewhere. They count as lost only after the handover time. */
    draining: p.boolean().default(false),
    seenAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type GatewayNode = InferEntity<typeof GatewayNode>

/**
 * The connection state of a robot. `epoch` numbers its connections and is a fencing token: every write of a connection
 * is conditional on its epoch, so a late write of a replaced socket has no effect.
 */
export const RobotPresence = defineEntity({
  name: 'RobotPresence',
  tableName: 'robot_presence',
  properties: {
    robot: () => referenceTo('Robot').primary().deleteRule('cascade'),
    epoch: p.integer().default(0),
    connected: p.boolean().default(false),
    /** Node of the newest connection. No foreign key: a node's row may be deleted before its robots are swept. */
    nodeId: p.uuid().nullable(),
    /** Start of the newest connection, or its last sign of life after it ended. */
    lastOnline: p.datetime(3).nullable(),
    lastHeartbeat: p.datetime(3).nullable(),
    /** When the newest connection ended. The grace period of a robot lost in a session starts here. */
    lostAt: p.datetime(3).nullable(),
    /** Last reported charge, 0 to 1, and when it was reported. */
    battery: p.float().columnType('double precision').nullable(),
    batteryAt: p.datetime(3).nullable(),
    /** The battery is low below this charge; 0 disables the check. Stored here because the heartbeat statement reads it. */
    lowBatteryThreshold: p.float().columnType('double precision').default(0.2),
    /** Remains set until the charge is well above the threshold, so that one discharge makes one notification. */
    batteryLow: p.boolean().default(false),
    batteryLowNotified: p.boolean().default(false),
    /** `manual`, `autonomous` or `assisted`, as the newest connection reports it; null before it has. */
    mode: p.text().nullable(),
  },
})
export type RobotPresence = InferEntity<typeof RobotPresence>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof GatewayNode | typeof RobotPresence> {}
}
