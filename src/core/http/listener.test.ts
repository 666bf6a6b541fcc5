import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { listen } from './listener.ts'

test('a connection that never sent a request does not delay the close', async () => {
  const listener = await listen('127.0.0.1', 0, 'PORT')
  const spare = connect(listener.port, '127.0.0.1')
  await Promise.all([once(spare, 'connect'), once(listener.server, 'connection')])
  const ended = once(spare, 'close')
  // Without a limit that could end it instead.
  await listener.close(2 ** 31 - 1)
  await ended
  expect(spare.destroyed).toBe(true)
})

test('a running request is answered before the close', async () => {
  const listener = await listen('127.0.0.1', 0, 'PORT')
  const running = Promise.withResolvers<() => void>()
  listener.serve((_, response) => running.resolve(() => response.end('done')))
  const answer = fetch(`http://127.0.0.1:${listener.port}`)
  const respond = await running.promise
  const closed = listener.close(2 ** 31 - 1)
  respond()
  expect(await (await answer).text()).toBe('done')
  await closed
})
