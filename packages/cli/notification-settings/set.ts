import type { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showSettings } from './view.ts'

/** Turns a channel of a group on or off, and prints the settings. */
export async function run(
  cli: Context,
  group: NotificationGroup,
  channel: NotificationChannel,
  state: 'on' | 'off',
): Promise<void> {
  const body = { matrix: { [group]: { [channel]: state === 'on' } } }
  showSettings(cli.out, await answerOf(cli.rest.PATCH('/api/notifications/settings', { body })))
}
