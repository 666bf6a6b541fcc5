import type { IncomingMessage } from 'node:http'
import type { Guard } from '../../core/process/guard.ts'
import { FLAG_KEYFRAME, TAIL_PATH } from '../../modules/recordings/transport/index.ts'
import { LiveReaders } from './live-readers.ts'
import type { AcceptUpgrade, LiveSink } from './recorder-context.ts'

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Creates the part of a recorder that serves live readers. */
export function createLiveSink({
  guard,
  requestKeyframe,
}: {
  guard: Guard
  /** Asks the camera of a session for a keyframe. */
  requestKeyframe: (sessionId: string, topic: string) => void
}) {
  const readers = new LiveReaders({ guard, requestKeyframe })
  const sink: LiveSink = {
    publish(sessionId, message, { flags, codec }) {
      if (!readers.wants(sessionId, message.topic)) return
      const kind = codec === undefined ? 'json' : codec === 'JPEG' ? 'image' : 'video'
      const isKeyframe = kind === 'video' && (flags & FLAG_KEYFRAME) !== 0
      readers.publish(sessionId, { ...message, kind, isKeyframe })
    },
  }
  return {
    ...sink,
    /** The number of connected readers. */
    readers: () => readers.size,
    /** Forgets a session that no source sends any more. */
    forget: (sessionId: string) => readers.forget(sessionId),
    /** Accepts the WebSocket of a reader. Returns false for another path. */
    upgrade(request: IncomingMessage, accept: AcceptUpgrade): boolean {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'ws://recorder')
      const sessionId = searchParams.get('session') ?? ''
      if (pathname !== TAIL_PATH || !SESSION_ID.test(sessionId)) return false
      accept((socket) => readers.add(socket, sessionId))
      return true
    },
    close: () => readers.close(),
  }
}
