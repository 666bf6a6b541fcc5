import { afterEach, expect, test, vi } from 'vitest'
import type { Echo } from '../../../test/support/programs/echo-child.ts'
import { createLog } from '../log.ts'
import { startChild } from './child-link.ts'
import { createGuard } from './guard.ts'

const log = createLog({ level: 'silent', pretty: false })
const endings: (() => void)[] = []
afterEach(() => {
  for (const end of endings.splice(0)) end()
  vi.useRealTimers()
})

/** Starts a child that echoes, and waits until it does. Its pings run on a fake clock. */
async function startEcho() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const failures: string[] = []
  const guard = createGuard({ role: 'test', log, count: (handler) => failures.push(handler) })
  const ended = Promise.withResolvers<string>()
  const received: string[] = []
  const link = startChild<Echo, Echo>({
    program: new URL('../../../test/support/programs/echo-child.ts', import.meta.url),
    settings: {},
    name: 'echo',
    guard,
    onMessage: ({ text }) => received.push(text),
    onEnd: ended.resolve,
  })
  endings.push(() => link.process.kill('SIGKILL'))
  link.send({ type: 'echo', text: 'ready' })
  await vi.waitFor(() => expect(received).toEqual(['ready']), { timeout: 60_000 })
  return { link, failures, received, ended: ended.promise }
}

test('a child that answers pings runs on; one that hangs is killed after five silent seconds, and counted', async () => {
  const { link, failures, received, ended } = await startEcho()
  for (let second = 0; second < 10; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    link.send({ type: 'echo', text: 'go on' })
    await vi.waitFor(() => expect(received).toHaveLength(second + 2), { timeout: 60_000 }) // after the pong
  }
  expect(failures).toEqual([])

  link.process.kill('SIGSTOP')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(failures).toEqual([])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await ended).toBe('exit code null, signal SIGKILL')
  expect(failures).toEqual(['echo:hung'])
})

test('messages to a child that does not read are bounded: frames are dropped, and then the child is killed', async () => {
  const { link, failures, ended } = await startEcho()
  link.process.kill('SIGSTOP')
  const message: Echo = { type: 'echo', text: 'x'.repeat(1_000) }
  let sent = 0
  while (sent < 20_000 && link.send(message, { mayDrop: true })) sent++
  expect(sent).toBeLessThan(3_000) // 2,000 and what the system's buffer holds
  expect(failures).toEqual([])

  let more = 0
  while (more < 20_000 && link.send(message)) more++
  expect(more).toBeLessThan(9_000)
  expect(await ended).toBe('exit code null, signal SIGKILL')
  expect(failures).toContain('echo:hung')
  expect(link.send(message)).toBe(false)
})
