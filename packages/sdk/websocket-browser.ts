import type { StandardWebSocketConstructor, WebSocketConstructor } from './link-socket.ts'

/** The browser's WebSocket. Bundlers for browsers use this file instead of `websocket.ts`, and so leave out `ws`. */
export const defaultWebSocket: StandardWebSocketConstructor = globalThis.WebSocket
/** Undefined: a robot sends its token in a header, and browsers cannot set headers. */
export const robotWebSocket: WebSocketConstructor | undefined = undefined
