import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { isServerBusy } from '../../../src/core/database/embedded-errors.ts'

/** Connects to a server that treats the connection as given. Returns the error. */
async function connectTo(treat: (socket: Socket) => void): Promise<unknown> {
  const server = createServer(treat).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'anyone',
    ssl: false,
    connectionTimeoutMillis: 50,
  })
  client.on('error', () => {})
  const error = await client.connect().catch((cause) => cause)
  await client.end()
  return error
}

test('a server that accepts connections and does not answer yet is starting', async () => {
  const error = await connectTo((socket) => socket.on('error', () => {}).resume())
  expect(error).toMatchObject({ message: 'timeout expired' })
  expect(isServerBusy(error)).toBe(true)
})

test('a server that gives up a connection is starting or stopping', async () => {
  expect(isServerBusy(await connectTo((socket) => socket.end()))).toBe(true)
})

test('a server that answers with another error is not', () => {
  expect(isServerBusy(Object.assign(new Error('password authentication failed'), { code: '28P01' }))).toBe(
    false,
  )
})
