import { Button, Center, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'
import { useStore } from '../ui/store.ts'
import { SIGN_IN_CHANNEL } from './session-guard.ts'
import { signInUrl } from './sign-in-url.ts'

const importDialog = () => import('./sign-in-dialog.tsx')
const SignInDialog = lazy(importDialog)

/** What somebody sees who is not signed in; leads back to where they wanted to go. */
export function SignInPage() {
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack maw={420}>
        <Title order={1}>Wheelhouse</Title>
        <Text>Drive robots from anywhere, or put your own into good hands. Sign in to go on.</Text>
        <Button component="a" href={signInUrl(location.pathname + location.search)} size="md">
          Sign in
        </Button>
      </Stack>
    </Center>
  )
}

/** Asks to sign in again in a second window, so that this one loses nothing. */
export function SignInAgain() {
  const { session } = usePlatform()
  const expired = useStore(session.phase) === 'expired'
  useEffect(() => {
    if (!expired) return
    const checkSession = () => void session.check()
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL)
    channel.addEventListener('message', checkSession)
    window.addEventListener('focus', checkSession)
    return () => {
      channel.close()
      window.removeEventListener('focus', checkSession)
    }
  }, [expired, session])
  // Fetched while there is a network: it is needed when something has gone wrong, and is no part of the first view.
  useEffect(() => void importDialog(), [])
  return <Suspense>{expired && <SignInDialog />}</Suspense>
}

/** Where the second window ends: tells the first and closes. */
export function SignedIn() {
  useEffect(() => {
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL)
    channel.postMessage('signed in')
    channel.close()
    window.close()
  }, [])
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack>
        <Title order={1}>You are signed in</Title>
        <Text>You can close this window.</Text>
      </Stack>
    </Center>
  )
}
