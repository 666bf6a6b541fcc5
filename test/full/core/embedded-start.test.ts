import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { startEmbeddedPostgres } from '../../../src/core/database/embedded.ts'
import { openCluster } from '../../../src/core/database/embedded-cluster.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-embedded-'))
  await openCluster(dataDir, () => {})
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

/** Starts the database of a data directory on which a server runs that is not PostgreSQL, until its second connection. */
async function startBeside(treatFirst: (socket: Socket) => void) {
  const pidFile = join(dataDir, 'cluster/data/postmaster.pid')
  let connections = 0
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume()
    if (++connections === 1) return treatFirst(socket)
    // It is gone: Wheelhouse launches PostgreSQL.
    server.close()
    void rm(pidFile, { force: true }).then(() => socket.resetAndDestroy())
  }).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    server.close()
    await rm(pidFile, { force: true })
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // A server is recognized by its directory in its command line. This one is the process of the test.
  await writeFile(pidFile, `${process.pid}\n${process.title}\n0\n${port}\n\n127.0.0.1\n\nready\n`)
  const database = await startEmbeddedPostgres({ dataDir, durable: false, log() {} })
  await database.stop()
  return connections
}

/** Returns a treatment of a connection: answers the first message with an error, as PostgreSQL does. */
const answer = (code: string, message: string) => (socket: Socket) =>
  socket.once('data', () => {
    const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
    const head = Buffer.from('E\0\0\0\0')
    head.writeInt32BE(fields.length + 4, 1)
    socket.end(Buffer.concat([head, fields]))
  })

test.each([
  ['gives up a connection', (socket: Socket) => socket.end()],
  ['resets a connection', (socket: Socket) => socket.resetAndDestroy()],
  ['reports that it is starting up', answer('57P03', 'the database system is starting up')],
])('the start continues when a server %s', async (_, treat) => {
  expect(await startBeside(treat)).toBe(2)
})

test('the start continues when a server accepts a connection and does not answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(await startBeside((socket) => socket.once('data', () => vi.runOnlyPendingTimers()))).toBe(2)
})

test('the start fails with any other error of a server', async () => {
  const refused = startBeside(answer('28P01', 'password authentication failed'))
  await expect(refused).rejects.toThrow('password authentication failed')
})
