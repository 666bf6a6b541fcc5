import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { measureCommits } from './commits.ts'
import { Deliveries, type DeliveryReport } from './deliveries.ts'
import { type HubAddress, HubSocket } from './hub-socket.ts'
import { seqOf } from './packets.ts'
import { createReturning } from './reconnect-load.ts'

// The load generator of the hub: clients that watch sessions, and their deliveries.

const HANDSHAKES_AT_A_TIME = 64
const POLL_INTERVAL_MS = 5
/** A silence of this length means that nothing is in flight. */
const SILENCE_MS = 3_000
const PAUSE_RESOLUTION_MS = 1

/** A connection that watches one session, or is idle. */
export interface HubSubscription {
  readonly address: HubAddress
  readonly sessionId?: string
}

const deliveries = new Deliveries()
const returning = createReturning()
const pauses = monitorEventLoopDelay({ resolution: PAUSE_RESOLUTION_MS })
let sockets: HubSocket[] = []
let closed = 0

async function take({ address, sessionId }: HubSubscription): Promise<void> {
  const follower = deliveries.follow(0)
  const socket = await HubSocket.connect(address, {
    event: (data, start, end) => follower.take(seqOf(data, start, end), end - start, performance.now()),
    closed: () => {
      closed++
    },
  })
  sockets.push(socket)
  if (sessionId === undefined || address.speaks === 'WebSocket') return
  const answer = (await socket.ask('session:watch', { session_id: sessionId, after: 0 })) as { ok?: boolean }
  if (answer?.ok !== true) throw new Error(`not allowed to watch: ${JSON.stringify(answer)}`)
}

const handlers = {
  async sit(subscriptions: readonly HubSubscription[]): Promise<void> {
    const queue = subscriptions.values()
    const channel = async () => {
      for (const subscription of queue) await take(subscription)
    }
    await Promise.all(Array.from({ length: HANDSHAKES_AT_A_TIME }, channel))
  },
  mark: () => deliveries.mark(),
  /** Waits for this many deliveries; `upTo` is the number that every follower should have reached then. */
  async arrival(expected: number, upTo: number): Promise<DeliveryReport> {
    let seen = -1
    for (let sinceMs = performance.now(); ; ) {
      if (deliveries.delivered >= expected) break
      if (deliveries.delivered !== seen) sinceMs = performance.now()
      seen = deliveries.delivered
      if (performance.now() - sinceMs > SILENCE_MS) break
      await delay(POLL_INTERVAL_MS)
    }
    return deliveries.report(upTo)
  },
  /** Returns the number of connections that were lost since the start. */
  closed: () => closed,
  commits: measureCommits,
  watchPauses(): void {
    pauses.reset()
    pauses.enable()
  },
  /** Returns the busy times of this process since then, in milliseconds. */
  pauses() {
    pauses.disable()
    const ms = (ns: number) => Math.max(0, ns / 1e6 - PAUSE_RESOLUTION_MS)
    return { p99Ms: ms(pauses.percentile(99)), maxMs: ms(pauses.max) }
  },
  connectAll: returning.connectAll,
  prepare: returning.prepare,
  cutAll: returning.cutAll,
  returned: returning.complete,
  returnReport: returning.report,
  leave(): void {
    returning.leave()
    for (const socket of sockets) socket.destroy()
    sockets = []
  },
}
export type HubGenerator = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the benchmark ends this process
sendReady(0)
