import { randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import { createLog } from '../../../src/core/log.ts'
import { createGuard } from '../../../src/core/process/guard.ts'
import type { RecorderSocket } from '../../../src/modules/recordings/transport/recorder-connection.ts'
import { createSampleSender } from '../../../src/modules/recordings/transport/sample-sender.ts'
import { sampleKinds } from '../../../src/modules/recordings/transport/sample-wire.ts'
import { FakeSocket } from './fake-socket.ts'

const log = createLog({ level: 'silent', pretty: false })
/** The time of the fake clock at the start of each test. */
export const START_MS = 1_800_000_000_000
export const sessionId = randomUUID()

/** Creates a sender with recorders whose connections are not real. Tests use a fake clock, which starts at `START_MS`. */
export function setUp({
  limits,
  names = ['a'],
  onUnsent,
}: {
  limits?: Parameters<typeof createSampleSender>[0]['limits']
  names?: string[]
  onUnsent?: Parameters<typeof createSampleSender>[0]['onUnsent']
} = {}) {
  const sockets: FakeSocket[] = []
  let recorders = names.map((id) => ({ id, url: `ws://${id}` }))
  const sender = createSampleSender({
    recorders: () => recorders,
    authorization: () => 'Bearer x',
    guard: createGuard({ role: 'test', log, count: () => {}, before: () => {} }),
    log,
    nowMs: Date.now,
    ...(limits && { limits }),
    onUnsent: onUnsent ?? (() => {}),
    open: (url, authorization) => {
      const socket = new FakeSocket(url, authorization)
      sockets.push(socket)
      return socket as unknown as RecorderSocket
    },
  })
  return {
    sender,
    sockets,
    setRecorders: (ids: string[]) => {
      recorders = ids.map((id) => ({ id, url: `ws://${id}` }))
    },
    /** Opens the newest connection, and returns it. */
    async connect(): Promise<FakeSocket> {
      await vi.advanceTimersByTimeAsync(50)
      const socket = sockets.at(-1) as FakeSocket
      socket.emit('open')
      await vi.advanceTimersByTimeAsync(50)
      return socket
    },
  }
}

/** Returns a sample with a control frame. */
export const control = (payload: string | Uint8Array, flags = 0) => ({
  kind: sampleKinds.control,
  flags,
  detail: 1.5,
  note: '',
  payload,
})
export const gateway = { sessionId, source: 'gateway', stored: true }
/** Returns the messages with which streams were opened. */
export const opened = (socket: FakeSocket) => socket.messages.filter((message) => message.type === 'open')
/** Returns the messages about gaps. */
export const gapsOf = (socket: FakeSocket) => socket.messages.filter((message) => message.type === 'gap')
