import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter'
import { rooms } from '@wheelhouse/protocol'
import type { Redis } from 'ioredis'
import type { Server, Socket } from 'socket.io'
import type { Guard } from '../src/core/errors/guard.ts'
import type { HubRedis } from '../src/core/redis.ts'

/** Messages on their way to Redis; beyond this they are dropped, and the other hubs' clients resume. */
const MAX_IN_FLIGHT = 10_000
/** From so many on, the relay waits: one fact may be a message for each of two thousand robots. */
const BEHIND = 1_000
/** A Redis that has taken nothing for so long is not waited for. */
const PATIENCE_MS = 2_000
/** Spreads the return of clients after an outage of Redis. */
const RESUME_SPREAD_MS = 1_000
/** What one hub tells the others when messages of its own did not reach them. */
const MISSED = 'hub:missed'
/** What a hub tells the others when it may have told older statuses of robots after newer ones. */
const DISORDERED = 'hub:disordered'

export interface JoinedHubs {
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
export function joinHubs(io: Server, redis: HubRedis, guard: Guard): JoinedHubs {
  const { subscriber, isCluster } = redis
  const sender = withoutWaiting(redis, guard, () => io.serverSideEmit(MISSED))
  const listener = quietly(subscriber, guard)
  const resume = resumption(io, guard)
  io.adapter(
    isCluster
      ? createAdapter(sender, listener)
      : createShardedAdapter(sender, listener, { subscriptionMode: 'static' }),
  )
  guard.on(io, MISSED, 'adapter:missed', () => resume())
  guard.on(io, DISORDERED, 'adapter:disordered', () => resume(watchesRobots))
  let deaf = false
  guard.on(subscriber, 'close', 'redis:subscriber-close', () => {
    deaf = true
  })
  guard.on(subscriber, 'ready', 'redis:subscriber-ready', () => {
    if (deaf) resume()
    deaf = false
  })
  return {
    isBehind: sender.isBehind,
    onDisorder() {
      // Behind whatever is still on its way.
      io.serverSideEmit(DISORDERED)
      resume(watchesRobots)
    },
  }
}

/**
 * A publisher that never holds anybody up: the adapter delivers to its own sockets only after publishing, so
 * with Redis slow or away even clients of this very node would wait. What it had to drop the other hubs did
 * not hear; they are told so as soon as they can be reached.
 */
function withoutWaiting({ publisher, isCluster }: HubRedis, guard: Guard, tellOthers: () => void) {
  let inFlight = 0
  let dropped = false
  let tookMs = 0
  const confess = () => {
    if (!dropped || inFlight > 0 || publisher.status !== 'ready') return
    dropped = false // set again when the telling itself is lost
    tellOthers()
  }
  guard.on(publisher, 'ready', 'redis:publisher-ready', confess)
  guard.on(publisher, 'close', 'redis:publisher-close', () => {
    // A node that dies may have taken messages and not have passed them on.
    if (isCluster) dropped = true
  })

  function send(deliver: () => Promise<unknown>): Promise<number> {
    if (publisher.status !== 'ready' || inFlight >= MAX_IN_FLIGHT) dropped = true
    else {
      if (inFlight === 0) tookMs = performance.now()
      inFlight++
      deliver()
        .then(
          () => {
            tookMs = performance.now()
          },
          () => {
            dropped = true
          },
        )
        .finally(() => {
          inFlight--
          confess()
        })
    }
    return Promise.resolve(0)
  }

  return {
    isBehind: () =>
      inFlight > BEHIND && publisher.status === 'ready' && performance.now() - tookMs < PATIENCE_MS,
    spublish: (channel: string, payload: string | Buffer) => send(() => publisher.spublish(channel, payload)),
    publish: (channel: string, payload: string | Buffer) => send(() => publisher.publish(channel, payload)),
    // The classic adapter would only like to warn that errors are not handled.
    ...{ on() {}, off() {} },
  }
}

/** The adapter waits for none of these; one that fails, as at the end without Redis, must not end the process. */
function quietly(subscriber: Redis, guard: Guard) {
  type Listener = (...values: unknown[]) => void
  /** As they were registered, and as they were guarded. */
  const listeners = new WeakMap<Listener, Listener>()
  const quiet = (work: Promise<unknown>): Promise<number> =>
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
    ssubscribe: (channel: string) => quiet(subscriber.ssubscribe(channel)),
    sunsubscribe: (channel: string | string[]) => quiet(subscriber.sunsubscribe(...[channel].flat())),
    subscribe: (channels: string[]) => quiet(subscriber.subscribe(...channels)),
    unsubscribe: (channels: string[]) => quiet(subscriber.unsubscribe(...channels)),
    psubscribe: (pattern: string) => quiet(subscriber.psubscribe(pattern)),
    punsubscribe: (pattern: string) => quiet(subscriber.punsubscribe(pattern)),
  }
}

/**
 * What other hubs published meanwhile is lost to this one. Its clients are cut off, as a network would do it:
 * each comes back by itself and asks for what it missed.
 */
function resumption(io: Server, guard: Guard): (which?: (socket: Socket) => boolean) => void {
  const cutOffIn = guard.timer('timer:resume', (socket: Socket) => socket.conn.close())
  return (which = () => true) => {
    for (const socket of io.sockets.sockets.values()) {
      if (which(socket)) cutOffIn(Math.random() * RESUME_SPREAD_MS, socket).unref()
    }
  }
}

function watchesRobots(socket: Socket): boolean {
  const ofRobots = [rooms.ownRobots(''), rooms.robotType(''), rooms.openRobots]
  return [...socket.rooms].some((room) => ofRobots.some((start) => room.startsWith(start)))
}
