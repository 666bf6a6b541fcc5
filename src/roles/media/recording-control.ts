import { coalesce } from '../../core/concurrency/concurrency.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Guard } from '../../core/process/guard.ts'
import { LINGER_MS, type RecorderAddress } from '../../modules/recordings/transport/index.ts'
import type { CameraSession, CameraStore } from '../../modules/video/index.ts'
import type { CameraKey, RecorderAccess, RecordingTarget } from './forwarding/media-messages.ts'
import { cameraKey } from './peer-registry.ts'

/** How often sessions and settings are checked without a hint. */
const CHECK_MS = 500
/** How often recorders are looked up, and the credential for them is renewed. */
const RECORDERS_MS = 1_000
/** How long the stream of a camera stays open without a publisher. A publisher that reconnects in this time continues it. */
const ABSENT_MS = 30_000
/** Sessions with live readers. Beyond it, the oldest is forgotten: its readers ask again. */
const MAX_TAILED = 1_000

/** Where recorders are found, and how to connect to them. */
export interface RecorderDirectory {
  /** Returns the recorders that accept streams. */
  live(): Promise<readonly RecorderAddress[]>
  /** Returns a header Authorization. */
  sign(nowMs: number): string
}

interface RecordingHost {
  setRecorders(access: RecorderAccess): void
  record(camera: CameraKey, target: RecordingTarget): void
  endSample(camera: CameraKey): void
}

/** A camera that is recorded. */
interface Recorded extends RecordingTarget {
  readonly robotId: string
  publishedMs: number
}

/** Decides which cameras the forwarding process records: those of open sessions that are recorded, or that have live readers. */
export function createRecordingControl(deps: {
  store: Pick<CameraStore, 'openSessionsOf'>
  recorders: RecorderDirectory
  host: RecordingHost
  bus: Bus
  guard: Guard
  /** Returns the cameras that are connected. */
  publishers: () => readonly { robotId: string; camera: string }[]
}) {
  const { store, recorders, host, bus, guard, publishers } = deps
  const recorded = new Map<CameraKey, Recorded>()
  /** Until when a session has live readers, in Unix milliseconds. */
  const tailedUntilMs = new Map<string, number>()
  /** When a camera was recorded last. */
  let endedMs = Number.NEGATIVE_INFINITY

  /** Returns how a session is recorded; undefined if it is not. */
  function targetOf({ sessionId, isRecorded }: CameraSession, nowMs: number): RecordingTarget | undefined {
    const isTailed = (tailedUntilMs.get(sessionId) ?? 0) > nowMs
    return isRecorded || isTailed ? { sessionId, stored: isRecorded } : undefined
  }

  const check = coalesce(async () => {
    const nowMs = Date.now()
    for (const [sessionId, untilMs] of tailedUntilMs) if (untilMs <= nowMs) tailedUntilMs.delete(sessionId)
    const cameras = new Map(publishers().map(({ robotId, camera }) => [cameraKey(robotId, camera), robotId]))
    for (const [camera, { robotId, publishedMs }] of recorded)
      if (nowMs - publishedMs < ABSENT_MS) cameras.set(camera, robotId)
    const sessions = cameras.size === 0 ? [] : await store.openSessionsOf([...new Set(cameras.values())])
    const targets = new Map(sessions.map((session) => [session.robotId, targetOf(session, nowMs)]))
    const connected = new Set(publishers().map(({ robotId, camera }) => cameraKey(robotId, camera)))
    for (const [camera, robotId] of cameras) {
      const target = targets.get(robotId)
      if (target) begin(camera, robotId, target)
      else cameras.delete(camera)
    }
    for (const [camera, known] of recorded) {
      if (!cameras.has(camera)) end(camera)
      else if (connected.has(camera)) known.publishedMs = nowMs
    }
  })

  function begin(camera: CameraKey, robotId: string, target: RecordingTarget): void {
    const known = recorded.get(camera)
    if (known?.sessionId === target.sessionId && known.stored === target.stored) return
    recorded.set(camera, { ...target, robotId, publishedMs: Date.now() })
    host.record(camera, target)
  }

  function end(camera: CameraKey): void {
    recorded.delete(camera)
    endedMs = performance.now()
    host.endSample(camera)
  }

  const findRecorders = coalesce(async () => {
    // The last records of a camera may still wait for a recorder.
    if (recorded.size === 0 && performance.now() - endedMs > LINGER_MS) return
    host.setRecorders({ recorders: await recorders.live(), authorization: recorders.sign(Date.now()) })
  })

  const checkSoon = guard.handler('media:recording', async () => {
    await check()
    await findRecorders()
  })

  return {
    /** Checks now what to record. */
    checkSoon,

    timers: () => [
      guard.every('timer:media-recording', CHECK_MS, check),
      guard.every('timer:media-recorders', RECORDERS_MS, findRecorders),
    ],

    subscriptions: () => [
      guard.subscribe(bus, 'robots.changed', ({ robotIds }) => {
        const changed = new Set(robotIds)
        if (publishers().some(({ robotId }) => changed.has(robotId))) checkSoon()
      }),
      guard.subscribe(bus, 'session.tailed', ({ sessionId, untilMs }) => {
        tailedUntilMs.delete(sessionId)
        tailedUntilMs.set(sessionId, untilMs)
        const oldest = tailedUntilMs.keys().next().value
        if (tailedUntilMs.size > MAX_TAILED && oldest !== undefined) tailedUntilMs.delete(oldest)
        if (publishers().length > 0) checkSoon()
      }),
    ],
  }
}
