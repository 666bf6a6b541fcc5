import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../../src/core/http/listener.ts'

/** How long proxies and load balancers keep an idle connection at most. */
const PROXY_IDLE_SECONDS = 60

test('an idle connection stays open for longer than proxies use it', async () => {
  const listener = await listen('127.0.0.1', 0, 'PORT')
  onTestFinished(() => listener.close(1_000))
  listener.serve((_request, response) => response.end('answer'))
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const call = request({ host: '127.0.0.1', port: listener.port, agent }).end()
  const [reply] = (await once(call, 'response')) as [IncomingMessage]
  const seconds = Number(/timeout=(\d+)/.exec(String(reply.headers['keep-alive']))?.[1])
  expect(seconds).toBeGreaterThan(PROXY_IDLE_SECONDS)
})
