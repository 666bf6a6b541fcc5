import { Anchor, Button, Center, Stack, Text, Title } from '@mantine/core'
import { lazy, Suspense, useEffect } from 'react'
import { useStore } from '../base/store.ts'
import { usePlatform } from '../platform/platform.ts'
import { organizationSignInUrl, SIGN_IN_CHANNEL, signInUrl } from '../platform/session-guard.ts'
import { t } from '../texts/texts.ts'

const importDialog = () => import('./sign-in-dialog.tsx')
const SignInDialog = lazy(importDialog)

/** Shows the sign-in page. The sign-in returns to the requested page. */
export function SignInPage() {
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack maw={420}>
        <Title order={1}>{t('auth.signIn.title')}</Title>
        <Text>{t('auth.signIn.text')}</Text>
        <Button component="a" href={signInUrl(location.pathname + location.search)} size="md">
          {t('auth.signIn.button')}
        </Button>
        <Anchor href={organizationSignInUrl(location.pathname + location.search)}>
          {t('auth.signIn.organization')}
        </Anchor>
      </Stack>
    </Center>
  )
}

/** Asks the user to sign in again in a second window, so that this page keeps its state. */
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
  // Loaded in advance, because the network may be down when the dialog is needed. If this fails, the dialog tries again.
  useEffect(() => void importDialog().catch(() => {}), [])
  return <Suspense>{expired && <SignInDialog />}</Suspense>
}

/** Announces the sign-in to the other windows and closes the second one. */
export function SignedIn() {
  useEffect(() => {
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL)
    channel.postMessage('signed-in')
    channel.close()
    window.close()
  }, [])
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack>
        <Title order={1}>{t('auth.signedIn.title')}</Title>
        <Text>{t('auth.signedIn.text')}</Text>
      </Stack>
    </Center>
  )
}
