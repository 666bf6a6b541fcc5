import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { freePort } from '../../src/core/database/embedded-postmaster.ts'
import { findProgram, redisAnswers } from '../cluster/programs.ts'
import type { Child, Children } from './children.ts'

const START_LIMIT_MS = 180_000

/** Starts a Redis for the benchmark; returns undefined when none is installed. */
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
  const ready = await waitUntil(async () => ended || (await redisAnswers(port)), START_LIMIT_MS)
  if (ready && !ended) return { url: `redis://127.0.0.1:${port}`, child }
  throw new Error(`redis-server did not start:\n${child.output()}`)
}
