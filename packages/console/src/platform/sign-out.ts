import { notifications } from '@mantine/notifications'
import { removeBeforeSignOut } from '../push/browser-push.ts'
import { t } from '../texts/texts.ts'
import { forgetTeam } from './organization.ts'

/** Ends the session of this browser, and the notifications pushed to it, and reloads the page, which drops all data of the user. */
export async function signOut(): Promise<void> {
  await removeBeforeSignOut()
  const reply = await fetch('/auth/logout', {
    method: 'POST',
    headers: { Accept: 'application/json' },
  }).catch(() => undefined)
  if (reply?.ok) {
    forgetTeam()
    location.assign('/dashboard')
  } else
    notifications.show({
      color: 'red.9',
      title: t('auth.signOut.failedTitle'),
      message: t('auth.signOut.failedText'),
    })
}
