import type WebSocket from 'ws'

export interface Received {
  readonly type: string
  readonly [field: string]: unknown
}

/** Settles with the close code, also when the socket never opened (then 1006). */
export function closedSocket(socket: WebSocket, onClose: () => void): Promise<number> {
  return new Promise((resolve) => {
    socket.on('error', () => {})
    socket.on('close', (code) => {
      onClose()
      resolve(code)
    })
  })
}
