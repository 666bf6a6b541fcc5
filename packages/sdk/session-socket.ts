import { ToDriverFrame } from '@wheelhouse/protocol'
import { createFrameReader } from './frames.ts'
import type { StandardWebSocketConstructor, WebSocketLike } from './link-socket.ts'
import { MAX_RECEIVED_BYTES } from './robot-socket.ts'
import type { SessionTicket } from './tickets.ts'

/** What the gateway selects of the subprotocols offered; the credential beside it is not sent back. */
const SUBPROTOCOL = 'wheelhouse.v1'

/** Reads one text frame from the gateway; see `createFrameReader`. */
export const readSessionFrame = createFrameReader<ToDriverFrame>(ToDriverFrame)

/**
 * Dials the gateway once. The ticket goes as a subprotocol, which also works where headers cannot be set.
 * @throws Error for an address that is none of a WebSocket or a ticket that could not stand in a header
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
