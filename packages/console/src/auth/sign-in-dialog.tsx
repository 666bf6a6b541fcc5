import { Button, Modal, Stack, Text } from '@mantine/core'
import { signInUrl } from './sign-in-url.ts'

/** Covers the page until the user has signed in again. */
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
        <Text>Sign in again in a new window. Your changes on this page are kept.</Text>
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
