import { connect } from 'node:net'
import { waitUntil } from '../src/async.ts'
import { freePort } from '../src/db/embedded-postmaster.ts'
import type { Child, Children } from './children.ts'
import { findProgram } from './programs.ts'

const START_LIMIT_MS = 10_000

/** A Redis of the benchmark's own, or undefined when none is installed. */
export async function startRedis(children: Children): Promise<{ url: string; child: Child } | undefined> {
  const program = findProgram('redis-server')
  if (!program) return undefined
  const port = await freePort()
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
  const child = children.program(program, flags)
  let ended = false
  child.ended.then(() => {
    ended = true
  })
  const ready = await waitUntil(async () => ended || (await pings(port)), START_LIMIT_MS)
  if (ready && !ended) return { url: `redis://127.0.0.1:${port}`, child }
  throw new Error(`redis-server did not start:\n${child.output()}`)
}

/** Whether a Redis on this port answers PING. */
function pings(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', (reply) => settle(reply.toString().startsWith('+PONG')))
    socket.once('error', () => settle(false)).setTimeout(1_000, () => settle(false))
  })
}
