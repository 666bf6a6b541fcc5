import type { ControlSession, RobotMember } from '../control/control-session.ts'
import { GatewayConnection } from './connection.ts'

/** One connection of a robot and all that is kept for it while it is in no session. */
export class RobotConnection extends GatewayConnection implements RobotMember {
  readonly robotId: string
  readonly tokenVersion: number
  /** 0 until the database has let this connection in. */
  epoch = 0
  /** 0 until the first heartbeat. */
  lastHeartbeatMs = 0
  /** Which part of the second its heartbeat is written in; -1 until the first. */
  slice = -1
  /** Its newest heartbeat is not in the database yet. */
  heartbeatUnsaved = false
  /** Charge as last reported, 0 to 1, and when; -1 until the first report. */
  battery = -1
  batteryMs = 0
  /** Its open session, as far as it was told of one. */
  controlSession: ControlSession | null = null
  /** Frames that came before the database answered; undefined afterwards. */
  earlyFrames: string[] | undefined = undefined

  constructor(robotId: string, tokenVersion: number, nowMs: number) {
    super(nowMs)
    this.robotId = robotId
    this.tokenVersion = tokenVersion
  }
}
