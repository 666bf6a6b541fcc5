import { isNestedTooDeep } from '@wheelhouse/protocol'
import type { WebSocket } from 'ws'
import type { Guard } from '../../core/process/guard.ts'
import {
  encodeTailMessage,
  FromReader,
  LatestWins,
  STATE_TOPICS,
  type TailMessage,
} from '../../modules/recordings/transport/index.ts'

/** Bytes that may wait for one reader, before only the newest message of each topic waits. */
const MAX_BUFFERED_BYTES = 1024 * 1024
/** Live readers of one recorder. */
const MAX_READERS = 1_000
/** Live readers of one session. */
const MAX_READERS_PER_SESSION = 50
const CHECK_MS = 1_000
const PING_MS = 5_000
/** How long a reader may neither answer nor accept bytes. */
const SILENCE_LIMIT_MS = 10_000
/** How often one camera is asked for a keyframe: each one costs its other viewers bitrate. */
const KEYFRAME_EVERY_MS = 5_000
/** Sessions whose state is kept for new readers. Beyond it, the oldest one is forgotten. */
const MAX_KEPT_SESSIONS = 10_000
const MAX_KEYFRAME_TOPICS = 10_000
/** "Try again later" of RFC 6455's registry. */
const TRY_AGAIN_LATER = 1013

interface Reader {
  readonly socket: WebSocket
  readonly queue: LatestWins<string, QueuedMessage>
  pingedAtMs: number
  aliveAtMs: number
}

interface QueuedMessage {
  readonly isVideo: boolean
  readonly isKeyframe: boolean
  /** The same bytes for all readers. */
  readonly bytes: Buffer
}

interface KeptState {
  readonly message: QueuedMessage
  readonly logTimeNs: bigint
}

/** Sends the messages of sessions to live readers: processes of the api that serve Foxglove. */
export class LiveReaders {
  readonly #guard: Guard
  readonly #requestKeyframe: ((sessionId: string, topic: string) => void) | undefined
  readonly #bySession = new Map<string, Set<Reader>>()
  readonly #states = new Map<string, Map<string, KeptState>>()
  readonly #keyframesAtMs = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #size = 0

  constructor(deps: {
    readonly guard: Guard
    /** Asks a camera for a keyframe. */
    readonly requestKeyframe?: (sessionId: string, topic: string) => void
  }) {
    this.#guard = deps.guard
    this.#requestKeyframe = deps.requestKeyframe
    this.#timer = deps.guard.every('timer:live-readers', CHECK_MS, () => this.#check())
  }

  /** The number of connected readers. */
  get size(): number {
    return this.#size
  }

  /** Returns whether a message would be used, so that others need not be encoded. */
  wants(sessionId: string, topic: string): boolean {
    return this.#bySession.has(sessionId) || STATE_TOPICS.has(topic)
  }

  /** Adds an open connection. Closes it when there are too many. */
  add(socket: WebSocket, sessionId: string): void {
    const readers = this.#bySession.get(sessionId) ?? new Set<Reader>()
    if (this.#size >= MAX_READERS || readers.size >= MAX_READERS_PER_SESSION) {
      socket.close(TRY_AGAIN_LATER, 'too many readers')
      return
    }
    const reader = this.#createReader(socket)
    this.#bySession.set(sessionId, readers.add(reader))
    this.#size++
    this.#guard.on(socket, 'error', 'reader:error', () => {}) // 'close' follows
    this.#guard.on(socket, 'close', 'reader:close', () => this.#remove(sessionId, reader))
    this.#guard.on(socket, 'pong', 'reader:pong', () => {
      reader.aliveAtMs = performance.now()
    })
    this.#guard.on(
      socket,
      'message',
      'reader:message',
      (data: Buffer) => this.#received(sessionId, data),
      () => socket.terminate(),
    )
    for (const [topic, { message }] of this.#states.get(sessionId) ?? []) reader.queue.add(topic, message)
  }

  /** Sends a message to the readers of its session. */
  publish(sessionId: string, message: TailMessage): void {
    const readers = this.#bySession.get(sessionId)
    const isState = STATE_TOPICS.has(message.topic)
    if (!readers && !isState) return
    const { kind, isKeyframe, topic } = message
    const queued = { isVideo: kind === 'video', isKeyframe, bytes: encodeTailMessage(message) }
    if (isState && !this.#keep(sessionId, topic, queued, message.logTimeNs)) return
    for (const reader of readers ?? []) reader.queue.add(topic, queued)
  }

  /** Forgets the state of a session that is over. */
  forget(sessionId: string): void {
    this.#states.delete(sessionId)
  }

  /** Closes all readers. They connect to the next recorder. */
  close(): void {
    clearInterval(this.#timer)
    for (const readers of this.#bySession.values()) {
      for (const { socket } of readers) socket.terminate()
    }
  }

  #createReader(socket: WebSocket): Reader {
    const written = this.#guard.handler('reader:written', () => {
      reader.aliveAtMs = performance.now()
      reader.queue.flush()
    })
    const nowMs = performance.now()
    const reader: Reader = {
      socket,
      pingedAtMs: nowMs,
      aliveAtMs: nowMs,
      queue: new LatestWins({
        limitBytes: MAX_BUFFERED_BYTES,
        bufferedBytes: () => socket.bufferedAmount,
        write: (_topic, { bytes }) =>
          socket.send(bytes, (failure) => {
            if (!failure) written()
          }),
      }),
    }
    return reader
  }

  #remove(sessionId: string, reader: Reader): void {
    const readers = this.#bySession.get(sessionId)
    if (!readers?.delete(reader)) return
    this.#size--
    reader.queue.clear()
    if (readers.size === 0) this.#bySession.delete(sessionId)
  }

  #received(sessionId: string, data: Buffer): void {
    const text = String(data)
    if (isNestedTooDeep(text)) throw new Error('the message of a reader is nested too deeply')
    const { topic } = FromReader.parse(JSON.parse(text))
    const key = `${sessionId} ${topic}`
    const nowMs = performance.now()
    if (nowMs - (this.#keyframesAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < KEYFRAME_EVERY_MS) return
    setNewest(this.#keyframesAtMs, key, nowMs, MAX_KEYFRAME_TOPICS)
    this.#requestKeyframe?.(sessionId, topic)
  }

  /** Keeps a state. Returns false if it is older than the one that is kept: a source that continues sends its states again. */
  #keep(sessionId: string, topic: string, message: QueuedMessage, logTimeNs: bigint): boolean {
    const states = this.#states.get(sessionId) ?? new Map<string, KeptState>()
    const known = states.get(topic)
    if (known && known.logTimeNs > logTimeNs) return false
    setNewest(this.#states, sessionId, states.set(topic, { message, logTimeNs }), MAX_KEPT_SESSIONS)
    return true
  }

  /** Sends pings, and ends connections that neither answer nor accept bytes. */
  #check(): void {
    const nowMs = performance.now()
    for (const readers of this.#bySession.values()) {
      for (const reader of readers) {
        if (nowMs - reader.aliveAtMs > SILENCE_LIMIT_MS) reader.socket.terminate()
        else if (nowMs - reader.pingedAtMs >= PING_MS) {
          reader.pingedAtMs = nowMs
          reader.socket.ping()
        }
      }
    }
  }
}

/** Sets an entry as the newest one. Removes the oldest one beyond the limit. */
function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, limit: number): void {
  map.delete(key)
  const oldest = map.keys().next()
  if (map.size >= limit && !oldest.done) map.delete(oldest.value)
  map.set(key, value)
}
