import { ApiError, answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { availableRobotId, sessionId } from '../ids.ts'

export interface DriveTarget {
  readonly sessionId: string
  /** This command has started the session and ends it at exit. */
  readonly startedHere: boolean
}

/**
 * Returns the session to drive: the named session, the open session, or a new one on the named or any available robot.
 * @throws ApiError when the platform refuses; Failure when no robot or session matches
 */
export async function resolveDriveTarget(cli: Context, idOrName: string | undefined): Promise<DriveTarget> {
  const targetId = idOrName === undefined ? undefined : await idOf(cli, idOrName)
  if (targetId !== undefined && (await isSession(cli, targetId)))
    return { sessionId: targetId, startedHere: false }
  const { open_session_id: open } = await answerOf(cli.rest.GET('/api/operator/availability'))
  if (open !== null && (targetId === undefined || (await robotOf(cli, open)) === targetId)) {
    return { sessionId: open, startedHere: false }
  }
  const robotId = targetId ?? (await anyRobot(cli))
  const { sessionId } = await answerOf(cli.rest.POST('/api/sessions', { body: { robotId } }))
  return { sessionId, startedHere: true }
}

/** Returns the id of a robot, or else of a session, from an id, a prefix of the id, or a robot's name. */
async function idOf(cli: Context, idOrName: string): Promise<string> {
  try {
    return await availableRobotId(cli, idOrName)
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.outcome !== 'not_found') throw cause
  }
  return sessionId(cli, idOrName).catch((cause) => {
    if (!(cause instanceof Failure) || cause.outcome !== 'not_found') throw cause
    throw new Failure(
      'not_found',
      `No available robot and none of your sessions matches "${idOrName}". See: wheelhouse robots available`,
    )
  })
}

async function isSession(cli: Context, id: string): Promise<boolean> {
  try {
    await answerOf(cli.rest.GET('/api/sessions/{id}', { params: { path: { id } } }))
    return true
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return false
    throw cause
  }
}

async function robotOf(cli: Context, sessionId: string): Promise<string> {
  const path = { id: sessionId }
  return (await answerOf(cli.rest.GET('/api/sessions/{id}', { params: { path } }))).robot_id
}

async function anyRobot(cli: Context): Promise<string> {
  const { robots } = await answerOf(cli.rest.GET('/api/operator/available-robots'))
  if (robots[0]) return robots[0].id
  const next = 'A robot is available when it is online and you are certified for its type.'
  throw new Failure('not_found', `No robot is available to you now. ${next}`)
}
