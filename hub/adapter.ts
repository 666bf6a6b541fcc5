import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter'
import { rooms } from '@wheelhouse/protocol'
import type { Redis } from 'ioredis'
import type { Server, Socket } from 'socket.io'
import type { Guard } from '../src/core/process/guard.ts'
import type { HubRedis } from '../src/core/redis.ts'

/** Messages in flight to Redis. Beyond it messages are dropped, and the clients of the other hubs resume. */
const MAX_IN_FLIGHT = 10_000
/** From this number on the outbox relay waits: one event may cause a message for each of two thousand robots. */
const BACKPRESSURE_LIMIT = 1_000
/** The outbox relay does not wait for a Redis that has accepted nothing for this long. */
const MAX_STALL_MS = 2_000
/** Staggers the reconnects of clients after an outage of Redis. */
const RESUME_SPREAD_MS = 1_000
/** A hub sends this to the others after it failed to reach them. */
const MISSED = 'hub:missed'
/** A hub sends this to the others after it may have published older statuses of robots after newer ones. */
const DISORDERED = 'hub:disordered'

export interface HubCluster {
  /** Returns whether Redis accepts messages too slowly; false while Redis is unavailable. */
  isBehind(): boolean
  /** Makes the clients that watch robots, at every hub, read all statuses again. All other events are numbered. */
  onDisorder(): void
}

/**
 * Connects this hub to the others through Redis.
 *
 * All rooms share one static channel. With a channel per room, a message that is published after a socket joins a room
 * and before Redis has the subscription would be lost without a gap that the client can see. A Redis cluster uses the
 * classic adapter, whose subscription to all rooms is static as well.
 */
export function joinCluster(io: Server, redis: HubRedis, guard: Guard): HubCluster {
  const { subscriber, isCluster } = redis
  const sender = createNonBlockingPublisher(redis, guard, () => io.serverSideEmit(MISSED))
  const listener = createSafeSubscriber(subscriber, guard)
  const cutOffClients = createClientCutter(io, guard)
  io.adapter(
    isCluster
      ? createAdapter(sender, listener)
      : createShardedAdapter(sender, listener, { subscriptionMode: 'static' }),
  )
  guard.on(io, MISSED, 'adapter:missed', () => cutOffClients())
  guard.on(io, DISORDERED, 'adapter:disordered', () => cutOffClients(isWatchingRobots))
  let subscriberLost = false
  guard.on(subscriber, 'close', 'redis:subscriber-close', () => {
    subscriberLost = true
  })
  guard.on(subscriber, 'ready', 'redis:subscriber-ready', () => {
    if (subscriberLost) cutOffClients()
    subscriberLost = false
  })
  return {
    isBehind: sender.isBehind,
    onDisorder() {
      // Sent after all messages in flight.
      io.serverSideEmit(DISORDERED)
      cutOffClients(isWatchingRobots)
    },
  }
}

/**
 * Creates a publisher that never waits. The adapter delivers to the sockets of this node only after publishing, so a slow
 * or unavailable Redis would delay them too. If the publisher drops messages, it notifies the other hubs as soon as they
 * can be reached.
 */
function createNonBlockingPublisher(
  { publisher, isCluster }: HubRedis,
  guard: Guard,
  notifyPeers: () => void,
) {
  let inFlight = 0
  let dropped = false
  let lastAcceptedMs = 0
  const reportLoss = () => {
    if (!dropped || inFlight > 0 || publisher.status !== 'ready') return
    dropped = false // set again if the notification itself is lost
    notifyPeers()
  }
  guard.on(publisher, 'ready', 'redis:publisher-ready', reportLoss)
  guard.on(publisher, 'close', 'redis:publisher-close', () => {
    // A cluster node that fails may have accepted messages without delivering them.
    if (isCluster) dropped = true
  })

  function send(deliver: () => Promise<unknown>): Promise<number> {
    if (publisher.status !== 'ready' || inFlight >= MAX_IN_FLIGHT) dropped = true
    else {
      if (inFlight === 0) lastAcceptedMs = performance.now()
      inFlight++
      deliver()
        .then(
          () => {
            lastAcceptedMs = performance.now()
          },
          () => {
            dropped = true
          },
        )
        .finally(() => {
          inFlight--
          reportLoss()
        })
    }
    return Promise.resolve(0)
  }

  return {
    isBehind: () =>
      inFlight > BACKPRESSURE_LIMIT &&
      publisher.status === 'ready' &&
      performance.now() - lastAcceptedMs < MAX_STALL_MS,
    spublish: (channel: string, payload: string | Buffer) => send(() => publisher.spublish(channel, payload)),
    publish: (channel: string, payload: string | Buffer) => send(() => publisher.publish(channel, payload)),
    // The classic adapter only uses them to warn about unhandled errors.
    on() {},
    off() {},
  }
}

/** Ignores failed subscriptions: the adapter does not await them, and a rejection must not end the process. */
function createSafeSubscriber(subscriber: Redis, guard: Guard) {
  type Listener = (...values: unknown[]) => void
  /** The guarded version of each listener. */
  const guardedListeners = new WeakMap<Listener, Listener>()
  const ignoreErrors = (work: Promise<unknown>): Promise<number> =>
    work.then(
      () => 0,
      () => 0,
    )
  return {
    on(event: string, listener: Listener) {
      const guarded = guard.handler(`adapter:${event}`, listener)
      guardedListeners.set(listener, guarded)
      return subscriber.on(event, guarded)
    },
    off: (event: string, listener: Listener) =>
      subscriber.off(event, guardedListeners.get(listener) ?? listener),
    ssubscribe: (channel: string) => ignoreErrors(subscriber.ssubscribe(channel)),
    sunsubscribe: (channel: string | string[]) => ignoreErrors(subscriber.sunsubscribe(...[channel].flat())),
    subscribe: (channels: string[]) => ignoreErrors(subscriber.subscribe(...channels)),
    unsubscribe: (channels: string[]) => ignoreErrors(subscriber.unsubscribe(...channels)),
    psubscribe: (pattern: string) => ignoreErrors(subscriber.psubscribe(pattern)),
    punsubscribe: (pattern: string) => ignoreErrors(subscriber.punsubscribe(pattern)),
  }
}

/**
 * Returns a function that closes the connections of clients after this hub has missed messages of other hubs. It closes
 * them as a network failure does: each client reconnects by itself and requests the events that it missed.
 */
function createClientCutter(io: Server, guard: Guard): (filter?: (socket: Socket) => boolean) => void {
  const scheduleCutOff = guard.timer('timer:cut-off', (socket: Socket) => socket.conn.close())
  return (filter = () => true) => {
    for (const socket of io.sockets.sockets.values()) {
      if (filter(socket)) scheduleCutOff(Math.random() * RESUME_SPREAD_MS, socket).unref()
    }
  }
}

function isWatchingRobots(socket: Socket): boolean {
  const prefixes = [rooms.ownRobots(''), rooms.robotType(''), rooms.openRobots]
  return [...socket.rooms].some((room) => prefixes.some((prefix) => room.startsWith(prefix)))
}
