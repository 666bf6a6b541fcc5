import type { SessionLogEvent } from '@wheelhouse/protocol'
import type { Bus } from '../../../core/events/bus.ts'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import { openLiveTail, type RecorderAddress } from '../../../modules/recordings/transport/index.ts'
import { LiveSession } from './live-session.ts'
import { createLogFollower, type ReadLog } from './log-follower.ts'

/** How often clients get the time. */
const TIME_MS = 50
/** How often sources are asked to send the data of a session, and for how long. */
const TAILED_EVERY_MS = 2_000
const TAILED_FOR_MS = 6_000
const KEYFRAME_MS = 1_000

export interface LiveSessionsDeps {
  readonly recorders: () => readonly RecorderAddress[]
  /** Returns the Authorization header for recorders. */
  readonly recorderAuthorization: () => string
  readonly readLog: ReadLog
  readonly bus: Bus
  readonly guard: Guard
  readonly log: Log
  readonly now: () => Date
}

interface Running {
  readonly session: LiveSession
  readonly stop: () => void
}

/** Keeps the open sessions that clients of Foxglove read in this process. */
export function createLiveSessions(deps: LiveSessionsDeps) {
  const { recorders, recorderAuthorization, bus, guard, log, now } = deps
  const running = new Map<string, Running>()
  const follower = createLogFollower(deps)

  /** Starts the reading of a session. `logHead` is the number of the newest entry of its log. */
  function start(sessionId: string, logHead: number): Running {
    const stops: (() => void)[] = []
    const session = new LiveSession(sessionId, {
      openTail(onMessage) {
        const authorization = recorderAuthorization
        const tail = openLiveTail({ recorders, authorization, sessionId, onMessage, guard, log })
        stops.push(() => tail.close())
        return tail
      },
      onEmpty: () => stop(sessionId),
    })
    const announce = () =>
      bus.publish('session.tailed', { sessionId, untilMs: now().getTime() + TAILED_FOR_MS })
    announce()
    const timers = [
      guard.every('timer:foxglove-time', TIME_MS, () => session.sendTime(now().getTime())),
      guard.every('timer:foxglove-keyframes', KEYFRAME_MS, () => session.requestKeyframes()),
      guard.every('timer:foxglove-tailed', TAILED_EVERY_MS, announce),
    ]
    const onEntry = (entry: SessionLogEvent) => session.onLogEntry(entry)
    stops.push(() => timers.forEach(clearInterval), follower.follow(sessionId, logHead, onEntry))
    const stopAll = () => {
      for (const each of stops) each()
    }
    return { session, stop: stopAll }
  }

  function stop(sessionId: string): void {
    running.get(sessionId)?.stop()
    running.delete(sessionId)
  }

  return {
    /** Returns an open session for another client. It ends with its last client. */
    get(sessionId: string, logHead: number): LiveSession {
      const known = running.get(sessionId) ?? start(sessionId, logHead)
      running.set(sessionId, known)
      return known.session
    },
    close(): void {
      for (const sessionId of running.keys()) stop(sessionId)
      follower.close()
    },
  }
}
