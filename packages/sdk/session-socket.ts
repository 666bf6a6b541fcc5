import { ToDriverFrame } from '@wheelhouse/protocol'
import { createFrameReader } from './frames.ts'
import type { StandardWebSocketConstructor, WebSocketLike } from './link-socket.ts'
import { MAX_RECEIVED_BYTES } from './robot-socket.ts'
import type { SessionTicket } from './tickets.ts'

/** The subprotocol that the gateway selects. It does not return the other one, which contains the credential. */
const SUBPROTOCOL = 'wheelhouse.v1'

/** Reads one text frame from the gateway; see `createFrameReader`. */
export const readSessionFrame = createFrameReader<ToDriverFrame>(ToDriverFrame)

/**
 * Dials the gateway once. Sends the ticket as a subprotocol, because browsers cannot set headers.
 * @throws Error if the address is not a WebSocket URL or the ticket is not valid in a header
 */
export function dialSessionSocket(
  { url, ticket }: SessionTicket,
  connectTimeoutMs: number,
  Socket: StandardWebSocketConstructor,
): WebSocketLike {
  return new Socket(url, [SUBPROTOCOL, `bearer.${ticket}`], {
    handshakeTimeout: connectTimeoutMs,
    maxPayload: MAX_RECEIVED_BYTES,
    perMessageDeflate: false,
  })
}
