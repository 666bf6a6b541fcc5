import { Button, Modal, Stack, Text } from '@mantine/core'
import { signInUrl } from './sign-in-url.ts'

/** Over everything, until the same person has signed in again. */
export default function SignInDialog() {
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      zIndex={1000}
    >
      <Stack>
        <Text>
          Sign in again in a second window. What you have typed here stays, and what you were doing goes on.
        </Text>
        <Button
          data-autofocus
          onClick={() =>
            void window.open(signInUrl('/dashboard/signed-in'), '_blank', 'popup,width=480,height=680')
          }
        >
          Sign in again
        </Button>
      </Stack>
    </Modal>
  )
}
