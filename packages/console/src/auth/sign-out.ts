import { notifications } from '@mantine/notifications'

/** Ends the session of this browser and reloads the page, which drops all data of the user. */
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
      message: 'Sign-out failed. Try again.',
    })
}
