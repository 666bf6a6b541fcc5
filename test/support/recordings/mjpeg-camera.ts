import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Returns a picture that only its beginning makes a JPEG. Its last four bytes are its number. */
export function jpegPicture(number: number, bytes = 2_000): Buffer {
  const picture = Buffer.alloc(bytes, 0xaa)
  picture.set([0xff, 0xd8])
  picture.writeUInt32BE(number, bytes - 4)
  return picture
}

/** An MJPEG camera: it sends its pictures to every client. */
export class MjpegCamera {
  readonly #server: Server
  readonly #clients = new Set<ServerResponse>()
  readonly #timer: NodeJS.Timeout
  /** Requests so far. */
  requests = 0
  /** Answers in another way than with the pictures. */
  answer: ((response: ServerResponse) => void) | undefined
  #number = 0

  private constructor(server: Server, intervalMs: number) {
    this.#server = server
    this.#timer = setInterval(() => this.#send(), intervalMs)
    server.on('request', (_request, response) => {
      this.requests++
      if (this.answer) return this.answer(response)
      response.writeHead(200, { 'Content-Type': 'multipart/x-mixed-replace; boundary=picture' })
      this.#clients.add(response)
      response.on('close', () => this.#clients.delete(response))
    })
  }

  static async start({ intervalMs = 100 } = {}): Promise<MjpegCamera> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new MjpegCamera(server, intervalMs)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/stream.mjpg`
  }

  get clients(): number {
    return this.#clients.size
  }

  #send(): void {
    const picture = jpegPicture(++this.#number)
    for (const client of this.#clients) {
      client.write(`--picture\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}\r\n\r\n`)
      client.write(picture)
      client.write('\r\n')
    }
  }

  /** Ends all connections. */
  disconnect(): void {
    for (const client of this.#clients) client.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
