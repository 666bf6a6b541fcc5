import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** A proxy for the datagrams of one client, which can drop some of those to the client. */
export interface UdpProxy extends AsyncDisposable {
  readonly port: number
}

/** Creates a proxy to a port of this machine. `drops` decides about each datagram on its way to the client. */
export async function createUdpProxy(
  targetPort: number,
  drops: (datagram: Buffer) => boolean,
): Promise<UdpProxy> {
  const [front, back] = [await openSocket(), await openSocket()]
  let client: { port: number; address: string } | undefined
  front.on('message', (datagram, from) => {
    client = from
    back.send(datagram, targetPort, '127.0.0.1')
  })
  back.on('message', (datagram) => {
    if (client && !drops(datagram)) front.send(datagram, client.port, client.address)
  })
  return {
    port: front.address().port,
    async [Symbol.asyncDispose]() {
      front.close()
      back.close()
    },
  }
}

async function openSocket(): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('error', () => {}) // the other side has ended
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
