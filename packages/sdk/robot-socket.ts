import { MAX_FRAME_BYTES, ToRobotFrame } from '@wheelhouse/protocol'
import { createFrameReader } from './frames.ts'
import type { WebSocketConstructor, WebSocketLike } from './link-socket.ts'

/** Where and how a robot connects. */
export interface RobotDial {
  readonly url: string
  readonly token: string
  readonly connectTimeoutMs: number
  readonly WebSocket: WebSocketConstructor
}

/** The gateway adds its own fields to an operator's frame, which may already be as large as allowed. */
export const MAX_RECEIVED_BYTES = 2 * MAX_FRAME_BYTES

/**
 * Reads one text frame from the gateway.
 * @returns null for a frame of an unknown type, which newer gateways may send
 * @throws Error for text that is no frame or a known frame of the wrong shape
 */
export const readFrame = createFrameReader<ToRobotFrame>(ToRobotFrame, (type) =>
  // A stop that cannot be read in full is still a stop. The opposite guess would leave a robot driving.
  type === 'stop' ? { type, reason: 'unreadable stop', latched: true } : undefined,
)

/** Dials the gateway once, with the token in a header. */
export function dialRobotSocket({ url, token, connectTimeoutMs, WebSocket }: RobotDial): WebSocketLike {
  return new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: connectTimeoutMs,
    maxPayload: MAX_RECEIVED_BYTES,
    // Compression costs latency and memory on a link of small frames.
    perMessageDeflate: false,
  })
}
