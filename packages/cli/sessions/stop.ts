import { setTimeout as delay } from 'node:timers/promises'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { explained, mayPass } from '../errors.ts'
import { Failure } from '../failure.ts'
import { isWhole, openSessions, theOne } from '../ids.ts'
import { painted } from '../text.ts'

/** A stop that has got no answer by then is sent again; to send it twice does no harm. */
const ANSWER_LIMIT_MS = 3_000
const RETRY_MS = 300

interface Options {
  readonly all?: true
  readonly reason?: string
  readonly within?: number
}
type Stopped = Schemas['SessionDetail']

/** Presses the emergency stop until the platform has recorded it. */
export async function run(cli: Context, given: string | undefined, options: Options): Promise<void> {
  const limit = options.within === undefined ? undefined : AbortSignal.timeout(options.within * 1000)
  const until = limit ? AbortSignal.any([cli.signal, limit]) : cli.signal
  const ids = await insisting(cli, until, () => sessionsMeant(cli, given, options))
  const results = await Promise.allSettled(
    ids.map((id) => insisting(cli, until, () => press(cli, id, options))),
  )
  const stopped = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (cli.out.json) cli.out.document(stopped)
  else {
    for (const { id, robot_name } of stopped) {
      cli.out.line(
        painted('bold', 'Stopped'),
        ` ${robot_name}. Clear it with: wheelhouse sessions clear-stop ${id}`,
      )
    }
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

async function sessionsMeant(cli: Context, given: string | undefined, { all }: Options): Promise<string[]> {
  if (given !== undefined && isWhole(given)) return [given.toLowerCase()]
  const open = await openSessions(cli)
  if (given !== undefined) {
    const named = open.map(({ id, robot_name: name }) => ({ id, name }))
    return [theOne(named, given, 'open session', 'sessions list').id]
  }
  if (open.length === 0) throw new Failure('not_found', 'You have no open session.')
  if (open.length === 1 || all) return open.map(({ id }) => id)
  const ids = open.map(({ id, robot_name }) => `${id} (${robot_name})`).join(', ')
  throw new Failure('usage', `Several sessions are open: ${ids}. Name one, or stop them with --all`)
}

async function press(cli: Context, id: string, { reason }: Options): Promise<Stopped> {
  const body = { action: 'emergency_stop' as const, ...(reason !== undefined && { reason }) }
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
  const session = await answerOf(
    cli.rest.PATCH('/api/sessions/{id}', { params: { path: { id } }, body, signal }),
  )
  if (session.control.stop === null) throw new ApiError(503, 'The stop is not recorded')
  return session
}

/** Again and again while the platform is away, not ready or too busy. */
async function insisting<T>(cli: Context, until: AbortSignal, work: () => Promise<T>): Promise<T> {
  let told = false
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!mayPass(cause)) throw cause
      if (until.aborted) throw notKnown(cli)
      if (!told) {
        const why = explained(cause, cli.server).message
        cli.out.tell(painted('red', 'The stop is not recorded yet'), `, trying again. ${why}`)
      }
      told = true
    }
    await delay(RETRY_MS, undefined, { signal: until }).catch(() => {
      throw notKnown(cli)
    })
  }
}

const notKnown = ({ server }: Context) =>
  new Failure('unreachable', `${server} has not confirmed the stop: do not trust that the robot stands.`)
