import { MAX_FRAME_BYTES, MIN_SPEED_SCALE, ToRobotFrame } from '@wheelhouse/protocol'
import { createFrameReader } from './frames.ts'
import type { WebSocketConstructor, WebSocketLike } from './link-socket.ts'

/** Address and credential of a robot's connection. */
export interface RobotDial {
  readonly url: string
  readonly token: string
  readonly connectTimeoutMs: number
  readonly WebSocket: WebSocketConstructor
}

/** Larger than MAX_FRAME_BYTES, because the gateway adds fields to an operator's frame of any allowed size. */
export const MAX_RECEIVED_BYTES = 2 * MAX_FRAME_BYTES

/**
 * Reads one text frame from the gateway.
 * @returns null for a frame of an unknown type, which newer gateways may send
 * @throws Error for text that is not a frame and for a malformed frame of a known type
 */
export const readFrame = createFrameReader<ToRobotFrame>(ToRobotFrame, (type) => {
  // A malformed stop still halts the robot. Ignoring it could leave the robot driving.
  if (type === 'stop') return { type, reason: 'unreadable stop', latched: true }
  // A malformed command may have been the one to halt, and must not extend the last motion.
  if (type === 'control') return { type: 'stop', reason: 'invalid_command', latched: false }
  if (type === 'limits') return { type, speed_scale: MIN_SPEED_SCALE, reason: 'unreadable limits' }
  return undefined
})

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
