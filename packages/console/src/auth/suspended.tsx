import { Button, Center, Stack, Text, Title } from '@mantine/core'
import { signOut } from './sign-out.ts'

/** Shows a suspended user why the account cannot be used. */
export const SuspendedPage = ({ message }: { message: string }) => (
  <Center component="main" mih="100dvh" p="md">
    <Stack maw={480}>
      <Title order={1}>Account suspended</Title>
      <Text style={{ overflowWrap: 'anywhere' }}>{message}</Text>
      <Button variant="default" onClick={() => void signOut()}>
        Sign out
      </Button>
    </Stack>
  </Center>
)
