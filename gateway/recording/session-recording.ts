import { setTimeout as delay } from 'node:timers/promises'
import pTimeout from 'p-timeout'
import { singleFlight } from '../../src/core/concurrency/concurrency.ts'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { createSampleSender, createUnsentGaps } from '../../src/modules/recordings/transport/index.ts'
import type { GatewayServices } from '../base/services.ts'
import { createSessionTaps, type TappedSessions } from './session-taps.ts'

/** Records that are kept until they are durable: about two minutes of a session, and a segment of four hundred sessions. */
const LIMITS = { streamBytes: 2 * 1024 * 1024, totalBytes: 64 * 1024 * 1024 }
/** How often the list of recorders is read. A lost one is noticed by its connection, at once. */
const POLL_MS = 1_000
/** How often sessions are compared with what is recorded of them. */
const SYNC_MS = 100
/** How long the end of a gateway waits for its recorders. */
const DRAIN_LIMIT_MS = 3_000
const DRAIN_POLL_MS = 20
/** How long it waits for the gaps of streams that have reached none. */
const GAPS_LIMIT_MS = 1_000

/** Creates the recording of a gateway's sessions: taps of the sessions, and the connections to the recorders. */
export function createSessionRecording(deps: {
  recorderNodes: GatewayServices['recorderNodes']
  streams: GatewayServices['streams']
  /** Returns the header Authorization of a new connection. */
  recorderAuthorization: () => string
  sessionRegistry: TappedSessions
  bus: Bus
  guard: Guard
  log: Log
  clockMs: () => number
}) {
  const { recorderNodes, streams, sessionRegistry, bus, guard, log } = deps
  let known: Awaited<ReturnType<typeof recorderNodes.live>> = []
  const unsentGaps = createUnsentGaps({ log, store: streams.addGapOfSession })
  const sender = createSampleSender({
    guard,
    log,
    recorders: () => known,
    authorization: deps.recorderAuthorization,
    nowMs: () => performance.timeOrigin + performance.now(),
    limits: LIMITS,
    onUnsent: unsentGaps.report,
  })
  const taps = createSessionTaps({ ...deps, open: sender.open })
  const poll = singleFlight(async () => {
    // Without the database, the recorders that were known last are used.
    known = await recorderNodes.live().catch(() => known)
  })

  return {
    /** Begins or ends the recording of a session that has changed. It does not throw. */
    sync: guard.handler('recording:tap', taps.sync),

    /** Begins to record. Returns a function that ends it. */
    start(): () => void {
      const timers = [
        guard.every('timer:recorders', POLL_MS, poll),
        guard.every('timer:taps', SYNC_MS, taps.syncAll),
      ]
      const unsubscribe = taps.listen(bus)
      return () => {
        unsubscribe()
        for (const timer of timers) clearInterval(timer)
      }
    },

    /** Ends the streams of all sessions, and settles when their samples are durable, or after a time limit. */
    async drain(): Promise<void> {
      for (const { tap } of sessionRegistry.all()) tap.end()
      const stored = async () => {
        while (!sender.isIdle) await delay(DRAIN_POLL_MS)
      }
      await pTimeout(stored(), { milliseconds: DRAIN_LIMIT_MS }).catch(() => {
        log.warn({}, 'the last samples were not stored in time; recordings lack them')
      })
      sender.giveUp()
      await unsentGaps.settled(GAPS_LIMIT_MS)
    },

    /** Ends all connections to recorders. */
    stop: () => sender.stop(),
  }
}
export type GatewayRecording = ReturnType<typeof createSessionRecording>
