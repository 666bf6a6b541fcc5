import { EventEmitter } from 'node:events'
import type { Socket } from 'socket.io'
import { afterEach, expect, test, vi } from 'vitest'
import { conflict } from '../src/core/errors/errors.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import { createLog } from '../src/core/log.ts'
import { createThreadTime } from '../src/core/process/thread-time.ts'
import { plainGuard } from '../test/support/gateway/plain-guard.ts'
import { type CommandDeps, createCommands } from './commands.ts'

test('commands are idle once the accepted ones have ended, although nothing awaits their answer', async () => {
  const permissions = Promise.withResolvers<Caller>()
  const log = createLog({ level: 'silent', pretty: false })
  const deps: Partial<CommandDeps> = {
    log,
    guard: plainGuard(log),
    threadTime: createThreadTime({ log, count: () => {} }),
    currentCaller: () => permissions.promise,
  }
  const commands = createCommands(deps as CommandDeps)
  const socket = new EventEmitter() as Socket
  commands.register(socket, {} as Caller)
  await commands.idle()

  socket.emit('session:unwatch', { session_id: '' })
  socket.emit('robots:watch')
  let isIdle = false
  const idle = commands.idle().then(() => {
    isIdle = true
  })
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  expect(isIdle).toBe(false)

  permissions.reject(new Error('the database is closed'))
  await idle
})

afterEach(() => void vi.useRealTimers())

/** Sends the same command two hundred times over one socket at once. Returns how many answers have which status. */
async function flood(command: [name: string, input: object], isParticipant: boolean) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const log = createLog({ level: 'silent', pretty: false })
  const answer = async () => {
    throw conflict('session_not_open', 'It is over.')
  }
  const deps = {
    log,
    bus: { publish() {} },
    guard: plainGuard(log),
    threadTime: createThreadTime({ log, count: () => {} }),
    currentCaller: async (caller: Caller) => caller,
    queries: { isParticipant: async () => isParticipant, parties: answer },
    lifecycle: { performAction: answer },
  }
  const caller = {
    userId: 'user',
    roles: ['client'],
    organization: { id: 'user', role: 'owner', groupIds: null },
    credential: { kind: 'session' },
  } as unknown as Caller
  const socket = Object.assign(new EventEmitter(), { data: {}, rooms: new Set(), conn: {} })
  createCommands(deps as unknown as CommandDeps).register(socket as unknown as Socket, caller)
  const answers = Array.from({ length: 200 }, () => {
    const { promise, resolve } = Promise.withResolvers<{ status: number }>()
    socket.emit(...command, resolve)
    return promise
  })
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  return Object.fromEntries(
    [409, 429].map((status) => [status, statuses.filter((it) => it === status).length]),
  )
}

const session_id = '00000000-0000-4000-8000-000000000000'
const action = (name: string): [string, object] => ['session:action', { session_id, action: name }]

test('the stops of a participant are never limited', async () => {
  expect(await flood(action('emergency_stop'), true)).toEqual({ 409: 200, 429: 0 })
})

test.each([
  ['stops of others', action('emergency_stop'), false],
  ['other actions', action('end'), true],
  ['other commands', ['chat:typing', { session_id }] as [string, object], true],
] as const)('%s are limited to a burst of sixty', async (_name, command, isParticipant) => {
  expect(await flood([...command], isParticipant)).toEqual({ 409: 60, 429: 140 })
})
