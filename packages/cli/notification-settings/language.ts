import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { showSettings } from './view.ts'

/** Sets the language of mails and browser push, and prints the settings. */
export async function run(
  cli: Context,
  language: NonNullable<Schemas['NotificationSettings']['language']>,
): Promise<void> {
  showSettings(cli.out, await answerOf(cli.rest.PATCH('/api/notifications/settings', { body: { language } })))
}
