import { WebSocket } from 'ws'
import type { StandardWebSocketConstructor, WebSocketConstructor } from './link-socket.ts'

/** What links dial with outside of browsers: `ws` sets headers, and tells why an upgrade was refused. */
export const defaultWebSocket: StandardWebSocketConstructor = WebSocket
/** What robots dial with: their token goes in a header. */
export const robotWebSocket: WebSocketConstructor | undefined = WebSocket
