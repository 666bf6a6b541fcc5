import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { isTransient, toFailure } from '../errors.ts'
import { Failure } from '../failure.ts'
import { findUnique, isFullId, openSessions } from '../ids.ts'
import { styled } from '../text.ts'

/** Time without a response after which the command sends the stop again. Repeated stops are harmless. */
const ANSWER_LIMIT_MS = 3_000
const RETRY_MS = 300

interface Options {
  readonly all?: true
  readonly reason?: string
  readonly within?: number
}
type Stopped = Schemas['SessionDetail']

/** Requests a remote stop until the platform has recorded it. */
export async function run(cli: Context, idOrName: string | undefined, options: Options): Promise<void> {
  const limit = options.within === undefined ? undefined : AbortSignal.timeout(options.within * 1000)
  const until = limit ? AbortSignal.any([cli.signal, limit]) : cli.signal
  const ids = await retryUntil(cli, until, () => resolveSessionIds(cli, idOrName, options))
  const results = await Promise.allSettled(
    ids.map((id) => retryUntil(cli, until, () => requestStop(cli, id, options))),
  )
  const stopped = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (cli.out.json) cli.out.document(stopped)
  else {
    for (const { id, robot_name } of stopped) {
      cli.out.line(
        styled('bold', 'Stopped'),
        ` ${robot_name}. Clear it with: wheelhouse sessions clear-stop ${id}`,
      )
    }
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

async function resolveSessionIds(
  cli: Context,
  idOrName: string | undefined,
  { all }: Options,
): Promise<string[]> {
  if (idOrName !== undefined && isFullId(idOrName)) return [idOrName.toLowerCase()]
  const open = await openSessions(cli)
  if (idOrName !== undefined) {
    const named = open.map(({ id, robot_name: name }) => ({ id, name }))
    return [findUnique(named, idOrName, 'open session', 'sessions list').id]
  }
  if (open.length === 0) throw new Failure('not_found', 'You have no open session.')
  if (open.length === 1 || all) return open.map(({ id }) => id)
  const ids = open.map(({ id, robot_name }) => `${id} (${robot_name})`).join(', ')
  throw new Failure('usage', `Several sessions are open: ${ids}. Name one, or stop all with --all`)
}

async function requestStop(cli: Context, id: string, { reason }: Options): Promise<Stopped> {
  const body = { action: 'emergency_stop' as const, ...(reason !== undefined && { reason }) }
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
  const session = await answerOf(
    cli.rest.PATCH('/api/sessions/{id}', { params: { path: { id } }, body, signal }),
  )
  if (session.control.stop === null) throw new ApiError(503, 'The stop is not recorded')
  return session
}

/** Retries while the platform is unreachable, not ready or too busy. */
async function retryUntil<T>(cli: Context, until: AbortSignal, work: () => Promise<T>): Promise<T> {
  let warned = false
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!isTransient(cause)) throw cause
      if (until.aborted) throw unconfirmedStopFailure(cli)
      if (!warned) {
        const why = toFailure(cause, cli.server).message
        cli.out.notice(styled('red', 'The stop is not recorded yet'), `, trying again. ${why}`)
      }
      warned = true
    }
    await delay(RETRY_MS, undefined, { signal: until }).catch(() => {
      throw unconfirmedStopFailure(cli)
    })
  }
}

const unconfirmedStopFailure = ({ server }: Context) =>
  new Failure('unreachable', `${server} has not confirmed the stop. The robot may still move.`)
