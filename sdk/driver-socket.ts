import { ToDriverFrame } from '@wheelhouse/protocol'
import { type ClientOptions, WebSocket } from 'ws'
import { createFrameReader } from './frames.ts'
import type { WebSocketLike } from './link-socket.ts'
import { MAX_RECEIVED_BYTES } from './robot-socket.ts'
import type { SessionTicket } from './tickets.ts'

/** The standard constructor, as browsers have it. What only `ws` understands is in the third argument. */
export type StandardWebSocketConstructor = new (
  url: string,
  protocols: string[],
  options: ClientOptions,
) => WebSocketLike

/** What the gateway selects of the subprotocols offered; the credential beside it is not sent back. */
const SUBPROTOCOL = 'wheelhouse.v1'

/** Bundlers for browsers put a stub without WebSocket in the place of `ws`. */
export const defaultWebSocket: StandardWebSocketConstructor = WebSocket ?? globalThis.WebSocket

/** Reads one text frame from the gateway; see `createFrameReader`. */
export const readDriverFrame = createFrameReader<ToDriverFrame>(ToDriverFrame)

/**
 * Dials the gateway once. The ticket goes as a subprotocol, which also works where headers cannot be set.
 * @throws Error for an address that is none of a WebSocket or a ticket that could not stand in a header
 */
export function dialDriverSocket(
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
