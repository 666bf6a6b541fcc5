import type { WebSocket } from 'ws'

const PING_EVERY_MS = 2_000

/** Terminates dead connections, which TCP may detect only after many minutes. */
export class LiveSockets {
  /** Whether each socket has answered the last ping. */
  readonly #sockets = new Map<WebSocket, boolean>()
  readonly #timer = setInterval(() => this.#ping(), PING_EVERY_MS)

  watch(socket: WebSocket): void {
    this.#sockets.set(socket, true)
    // Only a pong counts: a peer that sends but does not read must not stay connected.
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
