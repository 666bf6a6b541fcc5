import type { IncomingMessage } from 'node:http'
import WebSocket from 'ws'

/** A request to open a WebSocket. */
export interface Attempt {
  readonly headers?: Record<string, string>
  readonly protocols?: string[]
}

/** Attempts to connect; settles with the answer to the upgrade. 101 means that it was accepted. */
export async function attempt(url: string, { headers = {}, protocols = [] }: Attempt) {
  const socket = new WebSocket(url, protocols, { headers })
  try {
    return await new Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>(
      (resolve, reject) => {
        socket.on('error', reject)
        socket.on('open', () => resolve({ status: 101, headers: {}, body: '' }))
        socket.on('unexpected-response', async (_request, response) => {
          let body = ''
          for await (const chunk of response) body += chunk
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
        })
      },
    )
  } finally {
    socket.on('error', () => {})
    socket.terminate()
  }
}
