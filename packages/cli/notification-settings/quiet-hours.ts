import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import type { Hours } from './hours.ts'
import { showSettings } from './view.ts'

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]

interface Options {
  readonly days?: number[]
  readonly timeZone?: string
  readonly holdSafety?: true
}

/** Sets the quiet hours or turns them off, and prints the settings. */
export async function run(cli: Context, hours: Hours, options: Options): Promise<void> {
  const { days = EVERY_DAY, timeZone, holdSafety = false } = options
  const quiet_hours =
    hours === 'off'
      ? null
      : {
          ...hours,
          days,
          time_zone: timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
          safety_passes: !holdSafety,
        }
  showSettings(
    cli.out,
    await answerOf(cli.rest.PATCH('/api/notifications/settings', { body: { quiet_hours } })),
  )
}
