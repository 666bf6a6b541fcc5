import { notifications } from '@mantine/notifications'

/** Ends the session of this browser and starts the page afresh, with nothing of this person left in it. */
export async function signOut(): Promise<void> {
  const reply = await fetch('/auth/logout', {
    method: 'POST',
    headers: { Accept: 'application/json' },
  }).catch(() => undefined)
  if (reply?.ok) location.assign('/dashboard')
  else
    notifications.show({
      color: 'red.9',
      title: 'You are still signed in',
      message: 'Signing out failed: try again',
    })
}
