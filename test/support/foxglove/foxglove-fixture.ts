import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { listen } from '../../../src/core/http/listener.ts'
import type { RecorderAddress } from '../../../src/modules/recordings/transport/recorder-choice.ts'
import { TAIL_PATH, type TailMessage } from '../../../src/modules/recordings/transport/tail-wire.ts'
import { createFoxgloveServer, createFoxgloveTickets } from '../../../src/roles/api/foxglove/index.ts'
import type { OpenedSession } from '../../../src/roles/api/foxglove/session-source.ts'
import { LiveReaders } from '../../../src/roles/recorder/live-readers.ts'
import { MemoryStore } from '../storage/memory-store.ts'
import type { TestUser } from '../world/test-user.ts'
import type { World } from '../world/world.ts'
import { TestFoxgloveClient } from './test-client.ts'

const AUTHORIZATION = 'Recorder test'

/** Starts a recorder that only has live readers. */
export async function startTestRecorder(world: World, port = 0) {
  const keyframes: string[] = []
  const readers = new LiveReaders({
    guard: world.platform.core.guards.process,
    requestKeyframe: (_sessionId, topic) => keyframes.push(topic),
  })
  const http = createServer()
  const sockets = new WebSocketServer({ server: http, path: TAIL_PATH, perMessageDeflate: false })
  sockets.on('connection', (socket, request) => {
    const sessionId = new URL(request.url ?? '', 'http://recorder').searchParams.get('session') ?? ''
    if (request.headers.authorization === AUTHORIZATION) readers.add(socket, sessionId)
    else socket.close(4401)
  })
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  const address: RecorderAddress = {
    id: randomUUID(),
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
  }
  return {
    address,
    readers,
    keyframes,
    publish: (sessionId: string, message: Pick<TailMessage, 'topic' | 'data'> & Partial<TailMessage>) => {
      const nowNs = BigInt(Date.now()) * 1_000_000n
      readers.publish(sessionId, {
        kind: 'json',
        isKeyframe: false,
        logTimeNs: nowNs,
        publishTimeNs: nowNs,
        ...message,
      })
    },
    async stop() {
      readers.close()
      for (const socket of sockets.clients) socket.terminate()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}
export type TestRecorder = Awaited<ReturnType<typeof startTestRecorder>>

/** Starts a server for Foxglove over the platform of a world, with recorders and recordings of the test. */
export async function openFoxgloveFixture(world: World, options: { now?: () => Date } = {}) {
  const { core, identity, sessions } = world.platform
  const now = options.now ?? core.now
  const store = new MemoryStore()
  const recorders: RecorderAddress[] = []
  /** Replaces the answer of the database. */
  const opened = new Map<string, Partial<OpenedSession>>()
  const downloads: string[] = []
  const tickets = createFoxgloveTickets({ ...core, now })
  const server = createFoxgloveServer({
    ...core,
    ...identity,
    now,
    guard: core.guards.api,
    tickets,
    ticketStore: sessions.ticketStore,
    source: {
      async forFoxglove(sessionId, caller) {
        const { status, event_seq } = await sessions.queries.get(caller, sessionId)
        return { sessionStatus: status, logHead: event_seq, recording: null, ...opened.get(sessionId) }
      },
    },
    recordings: {
      store,
      noteDownload: async (recordingId, userId, kind) =>
        void downloads.push([recordingId, userId, kind].join(' ')),
    },
    recorders: () => recorders,
    recorderAuthorization: () => AUTHORIZATION,
    readLog: sessions.queries.events,
    allowedOrigins: ['https://console.example'],
    trustedProxies: 0,
  })
  const listener = await listen('127.0.0.1', 0, 'PORT')
  listener.serve((_request, response) => response.writeHead(404).end())
  listener.serveUpgrades(server)
  const clients: TestFoxgloveClient[] = []
  const addressOf = (sessionId: string, query = '') =>
    `ws://127.0.0.1:${listener.port}/api/sessions/${sessionId}/foxglove${query}`

  /** Stores a recording of a session that is over. */
  async function addRecording(sessionId: string, file: Uint8Array): Promise<string> {
    const id = randomUUID()
    const fileKey = `recordings/${id}/recording.mcap`
    await store.put(fileKey, file)
    const at = new Date()
    const recording = {
      id,
      status: 'READY',
      fileKey,
      sizeBytes: file.length,
      startedAt: at,
      endedAt: at,
    } as const
    opened.set(sessionId, { sessionStatus: 'COMPLETED', recording })
    return id
  }

  return {
    server,
    store,
    recorders,
    opened,
    downloads,
    tickets,
    addressOf,
    addRecording,
    port: listener.port,
    /** Connects with the token of a user. */
    connect(sessionId: string, user: TestUser, protocol?: string, query?: string): TestFoxgloveClient {
      const headers = { Authorization: `Bearer ${user.token}` }
      const client = new TestFoxgloveClient(addressOf(sessionId, query), protocol, headers)
      clients.push(client)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const { socket } of clients) socket.terminate()
      await server.close()
      await listener.close(1_000)
    },
  }
}
export type FoxgloveFixture = Awaited<ReturnType<typeof openFoxgloveFixture>>
