import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showSettings } from './view.ts'

/** Prints the notification settings. */
export async function run(cli: Context): Promise<void> {
  showSettings(cli.out, await answerOf(cli.rest.GET('/api/notifications/settings')))
}
