import { Button, Center, Stack, Text, Title } from '@mantine/core'
import { signOut } from '../platform/sign-out.ts'
import { t } from '../texts/texts.ts'

/** Shows a suspended user why the account cannot be used. */
export default function SuspendedPage({ message }: { message: string }) {
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack maw={480}>
        <Title order={1}>{t('auth.suspended.title')}</Title>
        <Text style={{ overflowWrap: 'anywhere' }}>{message}</Text>
        <Button variant="default" onClick={() => void signOut()}>
          {t('common.signOut')}
        </Button>
      </Stack>
    </Center>
  )
}
