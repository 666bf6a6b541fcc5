import type { WebSocket } from 'ws'

const PING_EVERY_MS = 2_000

/** Ends connections whose other side no longer answers, which may take TCP many minutes to notice. */
export class LiveSockets {
  /** By socket: whether it has answered since the last ping. */
  readonly #sockets = new Map<WebSocket, boolean>()
  readonly #timer = setInterval(() => this.#ping(), PING_EVERY_MS)

  watch(socket: WebSocket): void {
    this.#sockets.set(socket, true)
    // A pong alone: who sends but does not read would have ever more waiting for it.
    socket.on('pong', () => {
      if (this.#sockets.has(socket)) this.#sockets.set(socket, true)
    })
    socket.on('close', () => this.#sockets.delete(socket))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#sockets.clear()
  }

  #ping(): void {
    for (const [socket, answered] of this.#sockets) {
      if (!answered) {
        socket.terminate()
        continue
      }
      this.#sockets.set(socket, false)
      if (socket.readyState === socket.OPEN) socket.ping()
    }
  }
}
