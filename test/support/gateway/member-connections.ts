import { ParticipantConnection } from '../../../gateway/participants/participant-connection.ts'
import { RobotConnection } from '../../../gateway/robots/robot-connection.ts'
import type { TicketClaims } from '../../../src/modules/sessions/index.ts'

/** Creates a robot's connection, for parts of the gateway that know only what a session sees of it. */
export const robotConnection = (nowMs = 1): RobotConnection => new RobotConnection('robot', 1, nowMs)

/** Creates the connection of an operator or an observer in the same way. */
export const participantConnection = (claims: TicketClaims, nowMs: number): ParticipantConnection =>
  new ParticipantConnection(claims, nowMs)
