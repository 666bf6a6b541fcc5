import type { StandardWebSocketConstructor, WebSocketConstructor } from './link-socket.ts'

/** In the place of `websocket.ts` where a bundler builds for browsers: their own WebSocket, and nothing of `ws`. */
export const defaultWebSocket: StandardWebSocketConstructor = globalThis.WebSocket
/** Browsers set no headers, so that no robot can live in them. */
export const robotWebSocket: WebSocketConstructor | undefined = undefined
