import { io, type Socket } from 'socket.io-client'
import { expect } from 'vitest'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { waitFor } from '../world/wait.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
type Wire = any

/** A plain socket.io-client that records all received events. */
export class TestHubSocket {
  readonly socket: Socket
  readonly events: { name: string; data: Wire }[] = []

  constructor(url: string, token: string, organization?: string) {
    this.socket = io(url, {
      auth: { token, ...(organization && { organization }) },
      transports: ['websocket'],
      forceNew: true,
      reconnectionDelay: 20,
      reconnectionDelayMax: 100,
    })
    this.socket.onAny((name, data) => this.events.push({ name, data }))
  }

  connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.socket.connected) return resolve()
      this.socket.once('connect', resolve)
      this.socket.once('connect_error', (cause) => {
        if (!this.socket.active) reject(cause)
      })
    })
  }

  /** Sends a command; returns its acknowledgement. */
  send(name: string, data: unknown = {}): Promise<Wire> {
    return this.socket.timeout(WAIT_LIMIT_MS).emitWithAck(name, data)
  }

  of(name: string): Wire[] {
    return this.events.filter((event) => event.name === name).map((event) => event.data)
  }

  /** Waits until a matching event of this name has arrived, at any time since the start. */
  async saw(name: string, like: Record<string, unknown>): Promise<Wire> {
    return await waitFor(() => {
      const found = this.of(name).find((data) => matches(data, like))
      expect(found, `${name} ${JSON.stringify(like)} in ${JSON.stringify(this.of(name))}`).toBeDefined()
      return found
    })
  }

  close(): void {
    this.socket.close()
  }
}

function matches(data: Wire, like: Record<string, unknown>): boolean {
  return expect.objectContaining(like).asymmetricMatch(data)
}
