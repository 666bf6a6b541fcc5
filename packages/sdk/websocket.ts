import { WebSocket } from 'ws'
import type { StandardWebSocketConstructor, WebSocketConstructor } from './link-socket.ts'

/** The WebSocket of links outside browsers. `ws` can set headers and exposes why an upgrade was refused. */
export const defaultWebSocket: StandardWebSocketConstructor = WebSocket
/** The WebSocket of robots, which send their token in a header. */
export const robotWebSocket: WebSocketConstructor | undefined = WebSocket
