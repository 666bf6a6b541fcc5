import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { availableRobotId } from '../ids.ts'
import { formatTime } from '../views.ts'

export interface StartOptions {
  readonly operator?: string
  /** The planned length. */
  readonly minutes?: number
}

/** Takes a robot, now or at a time. */
export async function startSession(
  cli: Context,
  idOrName: string,
  { operator, minutes, at }: StartOptions & { at?: string },
): Promise<void> {
  const body = {
    robotId: await availableRobotId(cli, idOrName),
    ...(operator !== undefined && { operatorId: operator }),
    ...(at !== undefined && { scheduledFor: at }),
    ...(minutes !== undefined && { plannedMinutes: minutes }),
  }
  const session = await answerOf(cli.rest.POST('/api/sessions', { body }))
  cli.out.result(session, () => {
    cli.out.line(session.sessionId)
    cli.out.note(at === undefined ? 'The session has begun.' : `Planned for ${formatTime(at)}.`)
  })
}
