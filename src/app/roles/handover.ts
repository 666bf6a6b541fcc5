import type { Config } from '../config.ts'

/**
 * Returns how long a robot in a session may take to reconnect to another gateway before it counts as lost. The limit
 * equals the grace period of its operator, who reconnects as well.
 */
export const handoverMs = ({ operatorGraceMs, robotGraceMs, heartbeatTimeoutMs }: Config) =>
  Math.max(heartbeatTimeoutMs, Math.min(operatorGraceMs, robotGraceMs))
