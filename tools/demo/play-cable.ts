import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A cable between a client and a server that can be cut: every byte really travels through it. */
export interface Cable {
  readonly port: number
  /** Destroys the connections and lets no new one through. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

/** Lays a cable from a free local port to the server behind this http: or ws: URL. */
export async function layCable(target: URL): Promise<Cable> {
  const ends = new Set<Socket>()
  let whole = true
  const server = createServer((near) => {
    near.on('error', () => {}) // it is closed next, which both ends notice
    if (!whole) return near.destroy()
    const far = connect(Number(target.port || 80), target.hostname)
    far.on('error', () => {})
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end)
      end.setNoDelay(true)
      end.once('close', () => {
        ends.delete(end)
        // What is on its way, such as a closing handshake, still arrives.
        other.destroySoon()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const breakAll = () => {
    for (const end of ends) end.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      whole = false
      breakAll()
    },
    mend() {
      whole = true
    },
    async close() {
      server.close()
      breakAll()
      await once(server, 'close')
    },
  }
}
