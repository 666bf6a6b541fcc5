import { MAX_FRAME_BYTES, ToRobotFrame } from '@wheelhouse/protocol'
import type { ClientOptions, WebSocket } from 'ws'
import { createFrameReader } from './frames.ts'
import { type LinkSocket, type LinkSocketOptions, openLinkSocket } from './link-socket.ts'

/** The constructor of `ws`, or of anything that behaves like it. */
export type WebSocketConstructor = new (url: string, options: ClientOptions) => WebSocket

export interface RobotSocketOptions extends Omit<LinkSocketOptions<ToRobotFrame>, 'dial' | 'read'> {
  readonly url: string
  readonly token: string
  readonly WebSocket: WebSocketConstructor
}

/** The gateway adds its own fields to an operator's frame, which may already be as large as allowed. */
const MAX_RECEIVED_BYTES = 2 * MAX_FRAME_BYTES

/**
 * Reads one text frame from the gateway.
 * @returns null for a frame of an unknown type, which newer gateways may send
 * @throws Error for text that is no frame or a known frame of the wrong shape
 */
export const readFrame = createFrameReader<ToRobotFrame>(ToRobotFrame, (type) =>
  // A stop that cannot be read in full is still a stop. The opposite guess would leave a robot driving.
  type === 'stop' ? { type, reason: 'unreadable stop', latched: true } : undefined,
)

/**
 * Dials the gateway once.
 * @throws never for network reasons; those arrive at `onEnd`
 */
export function openRobotSocket(options: RobotSocketOptions): LinkSocket {
  const { url, token, WebSocket, connectTimeoutMs } = options
  return openLinkSocket({
    ...options,
    read: readFrame,
    dial: () =>
      new WebSocket(url, {
        headers: { authorization: `Bearer ${token}` },
        handshakeTimeout: connectTimeoutMs,
        maxPayload: MAX_RECEIVED_BYTES,
        // Compression costs latency and memory on a link of small frames.
        perMessageDeflate: false,
      }),
  })
}
