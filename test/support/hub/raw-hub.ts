import { once } from 'node:events'
import WebSocket from 'ws'
import { waitFor } from '../world/wait.ts'

/** A WebSocket to the hub with handwritten Engine.IO and Socket.IO, for packets that no client library sends. */
export class RawHub {
  readonly socket: WebSocket
  readonly received: string[] = []

  constructor(hubUrl: string) {
    this.socket = new WebSocket(`${hubUrl.replace(/^http/, 'ws')}/socket.io/?EIO=4&transport=websocket`)
    this.socket.on('error', () => {}) // 'close' follows
    this.socket.on('message', (data) => {
      const text = String(data)
      this.received.push(text)
      if (text === '2') this.socket.send('3') // a ping
    })
  }

  /** Connects to the namespace with a credential. */
  static async connect(hubUrl: string, token: string): Promise<RawHub> {
    const hub = new RawHub(hubUrl)
    await once(hub.socket, 'open')
    hub.socket.send(`40${JSON.stringify({ token })}`)
    await hub.answer('40')
    return hub
  }

  /** Waits for a packet with this beginning, and returns the rest of it. */
  answer(start: string): Promise<string> {
    return waitFor(() => {
      const found = this.received.find((text) => text.startsWith(start))
      if (found === undefined) throw new Error(`no ${start}… in ${this.received.join(' ')}`)
      return found.slice(start.length)
    })
  }
}
