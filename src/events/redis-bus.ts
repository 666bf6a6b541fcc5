import type { Redis } from 'ioredis'
import { type Bus, type BusTopic, busTopics, createListeners } from './bus.ts'

const CHANNEL_PREFIX = 'wheelhouse:bus:'

/**
 * The bus of several processes, over Redis publish/subscribe.
 *
 * What a process publishes also reaches its own listeners at once and without Redis, so that a process that
 * holds several roles keeps its speed and keeps working while Redis is away.
 */
export async function createRedisBus(parts: {
  publisher: Redis
  subscriber: Redis
  processId: string
  report: (cause: unknown) => void
}): Promise<Bus> {
  const { publisher, subscriber, processId, report } = parts
  const listeners = createListeners(report)

  subscriber.on('message', (channel: string, text: string) => {
    const topic = channel.slice(CHANNEL_PREFIX.length) as BusTopic
    try {
      const { from, message } = JSON.parse(text)
      if (from !== processId) listeners.deliver(topic, message)
    } catch (cause) {
      report(cause)
    }
  })
  // ioredis subscribes again by itself after a reconnect, and the first time once Redis is there. It fails only
  // when the process ends before that.
  subscriber.subscribe(...busTopics.map((topic) => CHANNEL_PREFIX + topic)).catch(() => {})

  const send = (topic: BusTopic, message: unknown) =>
    publisher.publish(CHANNEL_PREFIX + topic, JSON.stringify({ from: processId, message }))

  /** A wake-up says nothing but "look": while one is on its way, any number of others need only one more. */
  let waking = false
  let wakeAgain = false
  async function wake(): Promise<void> {
    if (waking) {
      wakeAgain = true
      return
    }
    waking = true
    wakeAgain = false
    await send('outbox.wake', {}).catch(() => {})
    waking = false
    if (wakeAgain && publisher.status === 'ready') void wake()
  }

  return {
    publish(topic, message) {
      queueMicrotask(() => listeners.deliver(topic, message))
      if (publisher.status !== 'ready') return // a hint is not worth queueing: listeners also poll
      // Lost with its connection, or at the end of the process: listeners find it by polling.
      if (topic === 'outbox.wake') void wake()
      else send(topic, message).catch(() => {})
    },
    subscribe: listeners.add,
  }
}
