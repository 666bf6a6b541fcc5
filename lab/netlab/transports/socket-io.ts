import { io } from 'socket.io-client'
import { servePeer } from './peer-server.ts'
import { type Command, type EndAddress, type Transport, TTL_MS } from './transport.ts'

/** Socket.IO with its defaults over WebSockets: it reconnects, and buffers what is sent while it is offline. */
export const socketIoTransport: Transport = {
  name: 'Socket.IO',
  role: 'peer',
  silenceHaltMs: TTL_MS,
  serve: (site) =>
    servePeer(site, 'lab/bench/servers/relay-socketio.ts', (origin, side, pair) => ({
      url: `http://${origin}/?side=${side}&pair=${pair}`,
    })),

  async connectOperator(address, events) {
    const socket = await connected(address)
    socket.on('disconnect', () => events.onLost())
    return {
      send(command) {
        socket.emit('control', command)
        return true
      },
      async close() {
        socket.off('disconnect').disconnect()
      },
    }
  },

  async connectRobot(address, robot) {
    const socket = await connected(address)
    socket.on('control', (command: Command) => robot.execute(command))
    return {
      async close() {
        socket.disconnect()
      },
    }
  },
}

async function connected({ url }: EndAddress) {
  const { origin, searchParams } = new URL(url)
  const auth = { side: searchParams.get('side'), pair: Number(searchParams.get('pair')) }
  const socket = io(origin, { transports: ['websocket'], forceNew: true, auth })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return socket
}
