import { z } from 'zod'

/** Status of a robot, as owners and operators see it. OFFLINE also covers a robot that has never connected. */
export const RobotStatus = z.enum(['OFFLINE', 'AVAILABLE', 'IN_SESSION']).meta({
  id: 'RobotStatus',
  description: 'OFFLINE also covers a robot that has never connected.',
  examples: ['AVAILABLE'],
})
export type RobotStatus = z.infer<typeof RobotStatus>

/** Status of a session. An ACTIVE or PAUSED session is open: its robot and its operator cannot start another one. */
export const SessionStatus = z.enum(['PENDING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED']).meta({
  id: 'SessionStatus',
  description: 'An ACTIVE or PAUSED session occupies its robot and its operator.',
  examples: ['ACTIVE'],
})
export type SessionStatus = z.infer<typeof SessionStatus>

/** Actions of PATCH /api/sessions/{id} and of the hub's `session:action`. */
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

/** Setting of a robot: who may drive it. */
export const RobotOperators = z.enum(['own', 'marketplace', 'both']).meta({
  id: 'RobotOperators',
  description:
    'own: members of the organization. marketplace: operators of the marketplace. both: members and operators of the marketplace.',
  examples: ['both'],
})
export type RobotOperators = z.infer<typeof RobotOperators>

/** Setting of a robot: who controls it after the connection of who controlled it is lost. */
export const ControlLoss = z.enum(['previous', 'nobody']).meta({
  id: 'ControlLoss',
  description:
    'previous: the last person who controlled it before and is connected, otherwise nobody. nobody: the session is paused at once.',
  examples: ['previous'],
})
export type ControlLoss = z.infer<typeof ControlLoss>

/** Setting of a robot: who may clear a remote stop that the owner or an admin requested. */
export const StopClear = z.enum(['owner', 'anyone']).meta({
  id: 'StopClear',
  description: 'owner: the owner or an admin. anyone: also the operator of the session.',
  examples: ['owner'],
})
export type StopClear = z.infer<typeof StopClear>

/** Roles of an account. The configuration assigns `admin`; an account cannot choose it. */
export const Role = z
  .enum(['client', 'operator', 'admin'])
  .meta({ id: 'Role', description: 'A client owns robots, an operator drives them.' })
export type Role = z.infer<typeof Role>
