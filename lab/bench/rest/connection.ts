import { connect, type Socket } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')

export interface HttpAnswer {
  readonly status: number
  readonly body: Buffer
}

/**
 * One keep-alive HTTP connection with one request in flight. It parses only what the measured servers send (a status
 * line, Content-Length), so that it takes little of the processor.
 */
export class HttpConnection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #settle: ((answer: HttpAnswer) => void) | undefined
  #fail: ((cause: Error) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', (cause) => this.#fail?.(cause))
    socket.on('close', () => this.#fail?.(new Error('The server closed a connection.')))
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        socket.off('error', reject)
        resolve(new HttpConnection(socket))
      })
      socket.once('error', reject)
    })
  }

  /** Sends a prebuilt request and settles with the whole answer. */
  send(request: Buffer): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#fail = reject
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#fail = undefined
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = this.#received.indexOf(HEAD_END)
    if (headEnd < 0) return
    const head = this.#received.toString('latin1', 0, headEnd)
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? Number.NaN)
    if (Number.isNaN(length)) {
      this.#socket.destroy(new Error(`no Content-Length in:\n${head}`))
      return
    }
    const end = headEnd + HEAD_END.length + length
    if (this.#received.length < end) return
    const body = this.#received.subarray(headEnd + HEAD_END.length, end)
    const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
    this.#received = this.#received.subarray(end)
    this.#settle?.({ status, body })
  }
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly apiKey: string
  readonly body?: unknown
}

/** Returns the bytes of a request. */
export function requestBytes({ method, path, apiKey, body }: HttpRequest): Buffer {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${apiKey}\r\n`
  if (body === undefined) return Buffer.from(`${head}\r\n`)
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  return Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`)
}
