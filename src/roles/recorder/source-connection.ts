import type { WebSocket } from 'ws'
import { type FromRecorder, FromSource, readSamples } from '../../modules/recordings/transport/index.ts'
import type { RecorderContext } from './recorder-context.ts'
import { encodeSample } from './sample-encoder.ts'
import { type ReceivedSample, StreamRecorder, type StreamRequest } from './stream-recorder.ts'

/** Streams of one source. */
const MAX_STREAMS = 10_000
const PROTOCOL_ERROR = 1002
const INTERNAL_ERROR = 1011
const GOING_AWAY = 1001

interface SourceStream {
  readonly request: StreamRequest
  readonly sessionId: string
  /** Undefined for a stream that only live readers receive. */
  readonly recorder: StreamRecorder | undefined
}

/** Creates the handling of one source: a gateway, or the media role of a process. */
export function createSourceConnection(socket: WebSocket, context: RecorderContext) {
  const { guard, counts, live, nodeId } = context
  const streams = new Map<number, SourceStream>()
  let alive = true
  /** Streams that end while the connection is open. */
  const ending = new Set<Promise<void>>()

  /** Sends a message. A source that does not read loses the connection, and opens its streams again. */
  function send(message: FromRecorder): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message), () => {})
  }

  function open(message: Extract<FromSource, { type: 'open' }>): void {
    const { stream, streamId, originId, sessionId, source, codec, stored, atMs } = message
    if (streams.size >= MAX_STREAMS)
      return send({ type: 'refused', stream, reason: 'overload', retryAfterMs: 5_000 })
    endStream(stream, null)
    const request = {
      stream,
      streamId,
      originId,
      sessionId,
      source,
      codec,
      nodeId,
      atMs,
    }
    const recorder = stored ? new StreamRecorder({ ...context, send }, request) : undefined
    streams.set(stream, { request, sessionId, recorder })
  }

  function endStream(stream: number, gap: 'source_lost' | 'recorder_lost' | null): void {
    const known = streams.get(stream)
    streams.delete(stream)
    if (!known?.recorder) return
    const ended = known.recorder.end(gap).finally(() => ending.delete(ended))
    ending.add(ended)
  }

  function readText(text: string): void {
    const message = FromSource.parse(JSON.parse(text))
    if (message.type === 'open') return open(message)
    if (message.type === 'close') return endStream(message.stream, message.continues ? 'recorder_lost' : null)
    const { fromMs, toMs, reason } = message
    streams.get(message.stream)?.recorder?.addGap({ fromMs, toMs, reason })
  }

  /** Reads a batch. Returns the samples of each stream. */
  function readBatch(batch: Buffer): Map<SourceStream, ReceivedSample[]> {
    const received = new Map<SourceStream, ReceivedSample[]>()
    for (const sample of readSamples(batch)) {
      const stream = streams.get(sample.stream)
      if (!stream) continue // it was refused, and its source does not know yet
      counts.samples++
      const message = encodeSample(sample, stream.request)
      if (!message) continue
      live.publish(stream.sessionId, message, { flags: sample.flags, codec: stream.request.codec })
      const { atMs, flags } = sample
      const samples = received.get(stream)
      if (samples) samples.push({ message, atMs, flags })
      else received.set(stream, [{ message, atMs, flags }])
    }
    return received
  }

  /** Reads a message. The socket waits until its samples are handled, so that a fast source fills no memory here. */
  async function read(data: Buffer, isBinary: boolean): Promise<void> {
    counts.bytes += data.length
    if (!isBinary) return readText(data.toString())
    const received = readBatch(data)
    for (const [{ recorder }, samples] of received) recorder?.receive(samples)
    socket.pause()
    await Promise.all(Array.from(received.keys(), ({ recorder }) => recorder?.settled()))
    socket.resume()
  }

  function onClose(): void {
    for (const stream of [...streams.keys()]) endStream(stream, 'source_lost')
    context.closed()
  }

  /** Ends the connection after a message that breaks the rules of the wire: its source opens it again. */
  const reject = () => socket.close(PROTOCOL_ERROR, 'the message is not valid')
  guard.on(socket, 'message', 'recorder:message', read, reject)
  guard.on(socket, 'close', 'recorder:close', onClose, () => socket.terminate())
  guard.on(socket, 'error', 'recorder:error', () => socket.terminate())
  guard.on(socket, 'pong', 'recorder:pong', () => {
    alive = true
  })

  const connection = {
    get streams() {
      return streams.size
    },
    /** Ends segments that are old, and a connection that gives no sign of life. Call it about once a second. */
    tick(): void {
      for (const { recorder } of streams.values()) recorder?.tick()
    },
    /** Asks for a sign of life. Ends the connection if the last question got no answer. */
    ping(): void {
      if (!alive) return socket.terminate()
      alive = false
      socket.ping()
    },
    /** Asks the camera of a topic for a keyframe, if this source sends it. */
    requestKeyframe(sessionId: string, topic: string): void {
      for (const [stream, { request }] of streams)
        if (request.sessionId === sessionId && `/${request.source}` === topic)
          send({ type: 'keyframe', stream })
    },
    announceEnd: () => send({ type: 'draining' }),
    /** Makes everything durable and ends the connection. */
    async drain(): Promise<void> {
      for (const stream of [...streams.keys()]) endStream(stream, 'recorder_lost')
      await Promise.allSettled([...ending])
      socket.close(GOING_AWAY)
    },
    terminate: () => socket.close(INTERNAL_ERROR),
  }
  return connection
}
export type SourceConnection = ReturnType<typeof createSourceConnection>
