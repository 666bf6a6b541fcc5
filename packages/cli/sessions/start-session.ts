import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { availableRobotId } from '../ids.ts'
import { formatTime } from '../views.ts'

export interface StartOptions {
  readonly operator?: string
  /** The planned duration. */
  readonly minutes?: number
}

/** Starts or schedules a session on a robot. */
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
    cli.out.note(at === undefined ? 'The session has started.' : `Scheduled for ${formatTime(at)}.`)
  })
}
