import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { offer, sendReady } from '../processes/rpc.ts'

// A program of the link's tests: sends numbered datagrams, or records those that arrive. One runs at each end.

const BYTES = 200

/** A datagram that arrived: its number, and the time in flight by the monotonic clock of both processes. */
export interface Arrival {
  readonly number: number
  readonly tookMs: number
}

const arrivals: Arrival[] = []
const nowMs = () => Number(process.hrtime.bigint()) / 1e6
const socket = createSocket('udp4')
socket.on('message', (data) => {
  arrivals.push({ number: data.readUInt32BE(0), tookMs: nowMs() - data.readDoubleBE(4) })
})

const handlers = {
  async listen(address: string): Promise<number> {
    socket.bind(0, address)
    await once(socket, 'listening')
    return socket.address().port
  },
  async send(to: { address: string; port: number }, count: number, everyMs: number): Promise<void> {
    for (let number = 0; number < count; number++) {
      const datagram = Buffer.alloc(BYTES)
      datagram.writeUInt32BE(number, 0)
      datagram.writeDoubleBE(nowMs(), 4)
      await new Promise<void>((resolve, reject) =>
        socket.send(datagram, to.port, to.address, (cause) => (cause ? reject(cause) : resolve())),
      )
      if (everyMs > 0) await delay(everyMs)
    }
  },
  arrivals: () => arrivals,
}
export type DatagramProcess = typeof handlers

offer(handlers)
sendReady(0)
