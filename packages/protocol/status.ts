import { z } from 'zod'

/** Where a robot stands, as owners and operators see it. OFFLINE also covers "never connected". */
export const RobotStatus = z.enum(['OFFLINE', 'AVAILABLE', 'IN_SESSION']).meta({
  id: 'RobotStatus',
  description: 'OFFLINE also covers a robot that has never connected.',
  examples: ['AVAILABLE'],
})
export type RobotStatus = z.infer<typeof RobotStatus>

/** States of a session. ACTIVE and PAUSED together are "open": they hold the robot and the operator. */
export const SessionStatus = z.enum(['PENDING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED']).meta({
  id: 'SessionStatus',
  description: 'ACTIVE and PAUSED sessions hold their robot and their operator.',
  examples: ['ACTIVE'],
})
export type SessionStatus = z.infer<typeof SessionStatus>

/** What the caller may ask of a session through PATCH /api/sessions/{id} or the hub's `session:action`. */
export const SessionAction = z
  .enum([
    'start',
    'pause',
    'resume',
    'end',
    'cancel',
    'emergency_stop',
    'clear_stop',
    'request_clear_stop',
    'approve_extension',
    'decline_extension',
  ])
  .meta({ id: 'SessionAction', examples: ['pause'] })
export type SessionAction = z.infer<typeof SessionAction>

/** Who may clear a remote stop that the owner or an admin requested: a setting of each robot. */
export const StopClear = z.enum(['owner', 'anyone']).meta({
  id: 'StopClear',
  description: 'owner: the owner or an admin. anyone: the operator of the session too.',
  examples: ['owner'],
})
export type StopClear = z.infer<typeof StopClear>

/** Roles an account can hold. `admin` comes from configuration, never from the account's own choice. */
export const Role = z
  .enum(['client', 'operator', 'admin'])
  .meta({ id: 'Role', description: 'A client owns robots, an operator drives them.' })
export type Role = z.infer<typeof Role>
