import { createShardedAdapter } from '@socket.io/redis-adapter'
import type { Redis } from 'ioredis'
import type { Server } from 'socket.io'

/** Messages on their way to Redis; beyond this they are dropped, and clients find the gap. */
const MAX_IN_FLIGHT = 10_000
/** Spreads the return of clients after an outage of Redis. */
const RESUME_SPREAD_MS = 1_000

/**
 * Joins this hub to the others through Redis.
 *
 * One static channel: with a channel per room, a message published between joining a room and Redis knowing
 * of it would be lost without a gap that the client could see.
 */
export async function joinHubs(io: Server, parts: { publisher: Redis; subscriber: Redis }): Promise<void> {
  const { publisher, subscriber } = parts
  io.adapter(createShardedAdapter(withoutWaiting(publisher), subscriber, { subscriptionMode: 'static' }))
  subscriber.on('close', () => subscriber.once('ready', () => makeClientsResume(io)))
}

/**
 * A publisher that never holds anybody up: the adapter delivers to its own sockets only after publishing, so
 * with Redis slow or away even clients of this very node would wait.
 */
function withoutWaiting(publisher: Redis) {
  let inFlight = 0
  return {
    spublish(channel: string, payload: string | Buffer): Promise<number> {
      if (publisher.status === 'ready' && inFlight < MAX_IN_FLIGHT) {
        inFlight++
        publisher
          .spublish(channel, payload)
          .catch(() => {}) // lost with the connection; its return makes every client resume
          .finally(() => {
            inFlight--
          })
      }
      return Promise.resolve(0)
    },
  }
}

/**
 * What other hubs published meanwhile is lost to this one. Its clients are cut off, as a network would do it:
 * each comes back by itself and asks for what it missed.
 */
function makeClientsResume(io: Server): void {
  for (const socket of io.sockets.sockets.values()) {
    setTimeout(() => socket.conn.close(), Math.random() * RESUME_SPREAD_MS).unref()
  }
}
