import { z } from 'zod'

/**
 * What a robot does now, in one word for all roles. It combines the robot's status with its open session: LOST is a
 * robot that lost its connection during a session, STOPPED one with a latched remote stop.
 */
export const RobotState = z.enum(['READY', 'DRIVING', 'PAUSED', 'STOPPED', 'LOST', 'OFFLINE']).meta({
  id: 'RobotState',
  description:
    'The present activity of a robot. READY: connected, no session. DRIVING, PAUSED: as its open session. STOPPED: a remote stop ' +
    'is latched. LOST: it is in a session and disconnected. OFFLINE: neither connected nor in a session.',
  examples: ['DRIVING'],
})
export type RobotState = z.infer<typeof RobotState>
