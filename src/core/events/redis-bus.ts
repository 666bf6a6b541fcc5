import { isNestedTooDeep } from '@wheelhouse/protocol'
import type { Redis } from 'ioredis'
import { type Bus, type BusTopic, type BusTopics, createListeners } from './bus.ts'

const CHANNEL_PREFIX = 'wheelhouse:bus:'

/** Ids that gather at most, while Redis is silent; of more robots gateways hear by polling. */
const MAX_ROBOT_IDS = 20_000

/** Messages of the other topics that are under way at most; of more, listeners hear by polling. */
const MAX_IN_FLIGHT = 10_000

/** Worth a moment's waiting for a Redis that is just coming back. */
const URGENT: ReadonlySet<BusTopic> = new Set(['robot.stop'])

/** How a hint that waits takes up the next one. Topics without a rule are sent one by one. */
const mergeHints: { [T in BusTopic]?: (waiting: BusTopics[T], next: BusTopics[T]) => void } = {
  'outbox.wake': () => {},
  'events.stored': () => {},
  'robots.changed': ({ robotIds }, next) => {
    if (robotIds.length + next.robotIds.length <= MAX_ROBOT_IDS) robotIds.push(...next.robotIds)
  },
}

/**
 * The bus of several processes, over Redis publish/subscribe.
 *
 * What a process publishes also reaches its own listeners at once and without Redis, so that a process that
 * holds several roles keeps its speed and keeps working while Redis is away. It listens only to what it has
 * listeners for.
 */
export function createRedisBus(deps: {
  publisher: Redis
  subscriber: Redis
  processId: string
  report: (cause: unknown) => void
}): Bus {
  const { publisher, subscriber, processId, report } = deps
  const listeners = createListeners(report)
  const subscribed = new Set<BusTopic>()
  /** Topics with a message on its way, and what has gathered behind it. */
  const inFlight = new Map<BusTopic, unknown>()
  let singleCount = 0

  subscriber.on('message', (channel: string, text: string) => {
    const topic = channel.slice(CHANNEL_PREFIX.length) as BusTopic
    try {
      if (isNestedTooDeep(text)) throw new Error(`A message of ${topic} is nested too deep`)
      const { from, message } = JSON.parse(text)
      if (from !== processId) listeners.deliver(topic, message)
    } catch (cause) {
      report(cause)
    }
  })

  /** Lost with its connection, or at the end of the process: listeners find it by polling. */
  async function send(topic: BusTopic, message: unknown): Promise<void> {
    // Other hints are not worth queueing: listeners also poll.
    if (publisher.status !== 'ready' && !URGENT.has(topic)) return
    await publisher
      .publish(CHANNEL_PREFIX + topic, JSON.stringify({ from: processId, message }))
      .catch(() => {})
  }

  /** Sends at once and waits for nothing that gathers. */
  async function sendUncoalesced(topic: BusTopic, message: unknown): Promise<void> {
    if (singleCount >= MAX_IN_FLIGHT) return
    singleCount++
    await send(topic, message)
    singleCount--
  }

  /** Sends at once; while a message is on its way, later ones of the topic gather for the next. */
  async function sendCoalesced<T extends BusTopic>(topic: T, message: BusTopics[T]): Promise<void> {
    const merge = mergeHints[topic]
    if (!merge) return await sendUncoalesced(topic, message)
    if (inFlight.has(topic)) {
      const waiting = inFlight.get(topic) as BusTopics[T] | undefined
      if (waiting === undefined) inFlight.set(topic, structuredClone(message))
      else merge(waiting, message)
      return
    }
    for (let next: unknown = message; next !== undefined; next = inFlight.get(topic)) {
      inFlight.set(topic, undefined)
      await send(topic, next)
    }
    inFlight.delete(topic)
  }

  return {
    publish(topic, message) {
      queueMicrotask(() => listeners.deliver(topic, message))
      void sendCoalesced(topic, message)
    },
    subscribe(topic, listener) {
      if (!subscribed.has(topic)) {
        subscribed.add(topic)
        // ioredis subscribes again by itself after a reconnect, and the first time once Redis is there. It fails
        // only when the process ends before that.
        subscriber.subscribe(CHANNEL_PREFIX + topic).catch(() => {})
      }
      return listeners.add(topic, listener)
    },
  }
}
