import { randomUUID } from 'node:crypto'
import type { Bus } from '../../core/events/bus.ts'
import type { MediaReply, MediaRequest } from '../../core/events/media-topics.ts'
import type { Guard } from '../../core/process/guard.ts'

/** Requests that wait for their replies at the same time. */
const MAX_PENDING = 1_000
/** A media role answers within 5 s, or not at all. */
const REPLY_LIMIT_MS = 6_000

/** Creates the requests of this process to media roles, in this process or another one. */
export function createMediaRequests({ bus, guard }: { bus: Bus; guard: Guard }) {
  const processId = randomUUID()
  const pending = new Map<string, (reply: MediaReply | undefined) => void>()
  const expire = guard.timer('media:reply-limit', (requestId: string) => settle(requestId, undefined))
  let subscribed = false

  function settle(requestId: string, reply: MediaReply | undefined): void {
    const resolve = pending.get(requestId)
    pending.delete(requestId)
    resolve?.(reply)
  }

  function subscribe(): void {
    if (subscribed) return
    subscribed = true
    guard.subscribe(bus, 'media.reply', ({ replyTo, requestId, reply }) => {
      if (replyTo === processId) settle(requestId, reply)
    })
  }

  return {
    /** Sends a request to a media role. Resolves with undefined if it does not reply in time. */
    async send(nodeId: string, request: MediaRequest): Promise<MediaReply | undefined> {
      if (pending.size >= MAX_PENDING) return undefined
      subscribe()
      const requestId = randomUUID()
      const { promise, resolve } = Promise.withResolvers<MediaReply | undefined>()
      pending.set(requestId, resolve)
      const timer = expire(REPLY_LIMIT_MS, requestId)
      bus.publish('media.request', { nodeId, replyTo: processId, requestId, request })
      const reply = await promise
      clearTimeout(timer)
      return reply
    },
  }
}
export type MediaRequests = ReturnType<typeof createMediaRequests>
