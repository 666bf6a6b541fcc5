import { once } from 'node:events'
import { WebSocket } from 'ws'
import { servePeer } from './peer-server.ts'
import { type Command, type OperatorEvents, type Transport, TTL_MS } from './transport.ts'

const RECONNECT_MS = 250

/** Bare `ws`: a relay that forwards every message, and clients that send and obey everything. */
export const wsTransport: Transport = {
  name: 'ws',
  role: 'peer',
  silenceHaltMs: TTL_MS,
  serve: (site) =>
    servePeer(site, 'lab/bench/servers/relay-ws.ts', (origin, side, pair) => ({
      url: `ws://${origin}/${side}/${pair}`,
    })),

  async connectOperator({ url }, events) {
    const client = createClient(url, { ...events, onMessage() {} })
    await client.connected
    return { send: (command) => client.send(JSON.stringify(command)), close: client.close }
  },

  async connectRobot({ url }, robot) {
    const onMessage = (text: string) => robot.execute(JSON.parse(text) as Command)
    const client = createClient(url, { onLost() {}, onMessage })
    await client.connected
    return { close: client.close }
  },
}

/** Creates a client that connects again whenever it loses its connection. */
function createClient(
  url: string,
  events: Pick<OperatorEvents, 'onLost'> & { onMessage(text: string): void },
) {
  let closed = false
  const dial = () => {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    socket.on('message', (data) => events.onMessage(String(data)))
    socket.on('error', () => {}) // 'close' follows
    socket.on('close', () => {
      if (closed) return
      events.onLost()
      setTimeout(() => {
        if (!closed) current = dial()
      }, RECONNECT_MS)
    })
    return socket
  }
  let current = dial()
  return {
    connected: once(current, 'open'),
    send(text: string): boolean {
      if (current.readyState !== WebSocket.OPEN) return false
      current.send(text)
      return true
    },
    async close(): Promise<void> {
      closed = true
      current.terminate()
    },
  }
}
