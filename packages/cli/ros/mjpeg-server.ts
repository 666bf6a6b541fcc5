import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Viewers of one camera. */
const MAX_VIEWERS = 8
/** A viewer with this many unsent bytes gets no further pictures until it has read them. */
const MAX_UNSENT_BYTES = 512 * 1024

/** Serves the pictures of a camera as MJPEG over HTTP, the newest one to each viewer. */
export class MjpegServer {
  readonly #server = createServer((request, response) => this.#view(request.method, response))
  readonly #viewers = new Set<ServerResponse>()

  /** Resolves with the address of the stream. @throws Error if the address cannot be used */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, host, () => resolve())
    })
    this.#server.on('error', () => {}) // of single connections
    const { port: actual } = this.#server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${actual}/`
  }

  send(picture: Uint8Array): void {
    for (const viewer of this.#viewers) {
      if (viewer.writableLength > MAX_UNSENT_BYTES) continue
      viewer.write(`--picture\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}\r\n\r\n`)
      viewer.write(picture)
      viewer.write('\r\n')
    }
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #view(method: string | undefined, response: ServerResponse): void {
    if (method !== 'GET') return void response.writeHead(405).end()
    if (this.#viewers.size >= MAX_VIEWERS) return void response.writeHead(503).end()
    response.writeHead(200, {
      'Content-Type': 'multipart/x-mixed-replace; boundary=picture',
      'Cache-Control': 'no-store',
    })
    response.flushHeaders() // also before the first picture
    this.#viewers.add(response)
    response.on('error', () => {}) // `close` follows
    response.on('close', () => this.#viewers.delete(response))
  }
}
