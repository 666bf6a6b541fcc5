import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter'
import { rooms } from '@wheelhouse/protocol'
import type { Redis } from 'ioredis'
import type { Server, Socket } from 'socket.io'
import type { Guard } from '../src/core/process/guard.ts'
import type { HubRedis } from '../src/core/redis.ts'

/** Messages on their way to Redis; beyond this they are dropped, and the other hubs' clients resume. */
const MAX_IN_FLIGHT = 10_000
/** From so many on, the relay waits: one fact may be a message for each of two thousand robots. */
const BACKPRESSURE_LIMIT = 1_000
/** A Redis that has taken nothing for so long is not waited for. */
const MAX_STALL_MS = 2_000
/** Spreads the return of clients after an outage of Redis. */
const RESUME_SPREAD_MS = 1_000
/** What one hub tells the others when messages of its own did not reach them. */
const MISSED = 'hub:missed'
/** What a hub tells the others when it may have told older statuses of robots after newer ones. */
const DISORDERED = 'hub:disordered'

export interface HubCluster {
  /** Whether Redis takes less than it is given; never so while it is away. */
  isBehind(): boolean
  /** Has everybody who watches robots, at every hub, look at all of them again. Everything else is numbered. */
  onDisorder(): void
}

/**
 * Joins this hub to the others through Redis.
 *
 * One static channel: with a channel per room, a message published between joining a room and Redis knowing
 * of it would be lost without a gap that the client could see. In a cluster the classic adapter, whose channels every
 * node knows, and whose subscription to all rooms is static as well.
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
      // Behind whatever is still on its way.
      io.serverSideEmit(DISORDERED)
      cutOffClients(isWatchingRobots)
    },
  }
}

/**
 * A publisher that never holds anybody up: the adapter delivers to its own sockets only after publishing, so
 * with Redis slow or away even clients of this very node would wait. What it had to drop the other hubs did
 * not hear; they are told so as soon as they can be reached.
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
    dropped = false // set again when the telling itself is lost
    notifyPeers()
  }
  guard.on(publisher, 'ready', 'redis:publisher-ready', reportLoss)
  guard.on(publisher, 'close', 'redis:publisher-close', () => {
    // A node that dies may have taken messages and not have passed them on.
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
    // The classic adapter would only like to warn that errors are not handled.
    on() {},
    off() {},
  }
}

/** The adapter waits for none of these; one that fails, as at the end without Redis, must not end the process. */
function createSafeSubscriber(subscriber: Redis, guard: Guard) {
  type Listener = (...values: unknown[]) => void
  /** As they were registered, and as they were guarded. */
  const listeners = new WeakMap<Listener, Listener>()
  const ignoreErrors = (work: Promise<unknown>): Promise<number> =>
    work.then(
      () => 0,
      () => 0,
    )
  return {
    on(event: string, listener: Listener) {
      const guarded = guard.handler(`adapter:${event}`, listener)
      listeners.set(listener, guarded)
      return subscriber.on(event, guarded)
    },
    off: (event: string, listener: Listener) => subscriber.off(event, listeners.get(listener) ?? listener),
    ssubscribe: (channel: string) => ignoreErrors(subscriber.ssubscribe(channel)),
    sunsubscribe: (channel: string | string[]) => ignoreErrors(subscriber.sunsubscribe(...[channel].flat())),
    subscribe: (channels: string[]) => ignoreErrors(subscriber.subscribe(...channels)),
    unsubscribe: (channels: string[]) => ignoreErrors(subscriber.unsubscribe(...channels)),
    psubscribe: (pattern: string) => ignoreErrors(subscriber.psubscribe(pattern)),
    punsubscribe: (pattern: string) => ignoreErrors(subscriber.punsubscribe(pattern)),
  }
}

/**
 * What other hubs published meanwhile is lost to this one. Its clients are cut off, as a network would do it:
 * each comes back by itself and asks for what it missed.
 */
function createClientCutter(io: Server, guard: Guard): (filter?: (socket: Socket) => boolean) => void {
  const scheduleCutOff = guard.timer('timer:resume', (socket: Socket) => socket.conn.close())
  return (filter = () => true) => {
    for (const socket of io.sockets.sockets.values()) {
      if (filter(socket)) scheduleCutOff(Math.random() * RESUME_SPREAD_MS, socket).unref()
    }
  }
}

function isWatchingRobots(socket: Socket): boolean {
  const ofRobots = [rooms.ownRobots(''), rooms.robotType(''), rooms.openRobots]
  return [...socket.rooms].some((room) => ofRobots.some((start) => room.startsWith(start)))
}
