import { isNestedTooDeep } from '@wheelhouse/protocol'
import type { Redis } from 'ioredis'
import { type Bus, type BusTopic, type BusTopics, createListeners } from './bus.ts'

const CHANNEL_PREFIX = 'wheelhouse:bus:'

/** Most ids merged into one hint while Redis is silent. Gateways find further robots by polling. */
const MAX_ROBOT_IDS = 20_000

/**
 * Most messages in flight of the topics that are not merged, by their urgency. Each kind has its own limit, so that none is refused
 * because of the others. Listeners find further changes by polling.
 */
const MAX_IN_FLIGHT = { stop: 10_000, revocation: 10_000, ordinary: 10_000 }
type Urgency = keyof typeof MAX_IN_FLIGHT

const urgencies: { [T in BusTopic]?: Urgency } = {
  'robot.stop': 'stop',
  'credential.revoked': 'revocation',
  'recording_link.revoked': 'revocation',
  'permissions.lost': 'revocation',
}
const urgencyOf = (topic: BusTopic): Urgency => urgencies[topic] ?? 'ordinary'

/** Merges the next hint into one that waits. Topics without a rule are sent one by one. */
const mergeHints: { [T in BusTopic]?: (waiting: BusTopics[T], next: BusTopics[T]) => void } = {
  'outbox.wake': () => {},
  'events.stored': () => {},
  'jobs.created': (waiting, { queues }) => {
    waiting.queues = [...new Set([...waiting.queues, ...queues])]
  },
  'robots.changed': ({ robotIds }, next) => {
    if (robotIds.length + next.robotIds.length <= MAX_ROBOT_IDS) robotIds.push(...next.robotIds)
  },
}

/**
 * Creates the bus of several processes, over Redis publish/subscribe.
 *
 * A message also reaches the listeners of the same process at once and without Redis. A process with several roles
 * therefore keeps working while Redis is down. A process subscribes only to topics that it has listeners for.
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
  /** Topics with a message in flight, and the hint that waits behind it. */
  const inFlight = new Map<BusTopic, unknown>()
  const singleCounts = { stop: 0, revocation: 0, ordinary: 0 }

  subscriber.on('message', (channel: string, text: string) => {
    const topic = channel.slice(CHANNEL_PREFIX.length) as BusTopic
    try {
      if (isNestedTooDeep(text)) throw new Error(`A message of ${topic} is nested too deeply`)
      const { from, message } = JSON.parse(text)
      if (from !== processId) listeners.deliver(topic, message)
    } catch (cause) {
      report(cause)
    }
  })

  /** Sends one message. It may get lost with its connection; listeners find the change by polling. */
  async function send(topic: BusTopic, message: unknown): Promise<void> {
    // While Redis reconnects, only stops are worth queueing: listeners also poll.
    if (publisher.status !== 'ready' && urgencyOf(topic) !== 'stop') return
    await publisher
      .publish(CHANNEL_PREFIX + topic, JSON.stringify({ from: processId, message }))
      .catch(() => {})
  }

  /** Sends immediately, within the limit of messages in flight of its urgency. */
  async function sendUncoalesced(topic: BusTopic, message: unknown): Promise<void> {
    const urgency = urgencyOf(topic)
    if (singleCounts[urgency] >= MAX_IN_FLIGHT[urgency]) return
    singleCounts[urgency]++
    await send(topic, message)
    singleCounts[urgency]--
  }

  /** Sends immediately. While a message is in flight, later ones of the topic merge into the next. */
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
