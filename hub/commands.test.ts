import { EventEmitter } from 'node:events'
import type { Socket } from 'socket.io'
import { expect, test } from 'vitest'
import type { Caller } from '../src/core/http/endpoint.ts'
import { createLog } from '../src/core/log.ts'
import { plainGuard } from '../test/support/gateway/plain-guard.ts'
import { type CommandDeps, createCommands } from './commands.ts'

test('commands are idle once the accepted ones have ended, although nothing awaits their answer', async () => {
  const permissions = Promise.withResolvers<Caller>()
  const log = createLog({ level: 'silent', pretty: false })
  const deps: Partial<CommandDeps> = { log, guard: plainGuard(log), currentCaller: () => permissions.promise }
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
