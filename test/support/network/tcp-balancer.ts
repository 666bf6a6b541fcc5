import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Creates one address for several processes, as a load balancer: each connection goes to the next one that accepts it. */
export async function createTcpBalancer(ports: readonly number[]) {
  const open = new Set<Socket>()
  let turn = 0

  function carry(near: Socket, triesLeft: number): void {
    if (triesLeft === 0) return void near.destroy()
    const far = connect(ports[turn++ % ports.length] as number, '127.0.0.1')
    const refused = () => carry(near, triesLeft - 1)
    far.once('error', refused).once('connect', () => {
      far.off('error', refused).on('error', () => near.destroy())
      far.on('close', () => near.destroy())
      near.on('close', () => far.destroy())
      if (near.destroyed) return void far.destroy()
      near.pipe(far).pipe(near)
    })
  }

  const server = createServer((near) => {
    open.add(near)
    near.on('error', () => {}).on('close', () => open.delete(near))
    carry(near, ports.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    /** Host and port. */
    authority: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}
