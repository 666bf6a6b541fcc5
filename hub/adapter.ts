import { createShardedAdapter } from '@socket.io/redis-adapter'
import type { Redis } from 'ioredis'
import type { Server } from 'socket.io'

/** Messages on their way to Redis; beyond this they are dropped, and the other hubs' clients resume. */
const MAX_IN_FLIGHT = 10_000
/** Spreads the return of clients after an outage of Redis. */
const RESUME_SPREAD_MS = 1_000
/** What one hub tells the others when messages of its own did not reach them. */
const MISSED = 'hub:missed'

/**
 * Joins this hub to the others through Redis.
 *
 * One static channel: with a channel per room, a message published between joining a room and Redis knowing
 * of it would be lost without a gap that the client could see.
 */
export async function joinHubs(io: Server, parts: { publisher: Redis; subscriber: Redis }): Promise<void> {
  const { publisher, subscriber } = parts
  const sender = withoutWaiting(publisher, () => io.serverSideEmit(MISSED))
  io.adapter(createShardedAdapter(sender, quietly(subscriber), { subscriptionMode: 'static' }))
  io.on(MISSED, () => makeClientsResume(io))
  let deaf = false
  subscriber.on('close', () => {
    deaf = true
  })
  subscriber.on('ready', () => {
    if (deaf) makeClientsResume(io)
    deaf = false
  })
}

/**
 * A publisher that never holds anybody up: the adapter delivers to its own sockets only after publishing, so
 * with Redis slow or away even clients of this very node would wait. What it had to drop the other hubs did
 * not hear; they are told so as soon as they can be reached.
 */
function withoutWaiting(publisher: Redis, tellOthers: () => void) {
  let inFlight = 0
  let dropped = false
  const confess = () => {
    if (!dropped || inFlight > 0 || publisher.status !== 'ready') return
    dropped = false // set again when the telling itself is lost
    tellOthers()
  }
  publisher.on('ready', confess)
  return {
    spublish(channel: string, payload: string | Buffer): Promise<number> {
      if (publisher.status !== 'ready' || inFlight >= MAX_IN_FLIGHT) dropped = true
      else {
        inFlight++
        publisher
          .spublish(channel, payload)
          .catch(() => {
            dropped = true
          })
          .finally(() => {
            inFlight--
            confess()
          })
      }
      return Promise.resolve(0)
    },
  }
}

/** The adapter waits for none of these; one that fails, as at the end without Redis, must not end the process. */
function quietly(subscriber: Redis) {
  return {
    on: (event: string, listener: (...values: unknown[]) => void) => subscriber.on(event, listener),
    ssubscribe: (channel: string) => subscriber.ssubscribe(channel).catch(() => {}),
    sunsubscribe: (channel: string) => subscriber.sunsubscribe(channel).catch(() => {}),
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
