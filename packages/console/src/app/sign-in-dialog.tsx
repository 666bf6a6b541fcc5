import { Button, Modal, Stack, Text } from '@mantine/core'
import { organizationSignInUrl, signInUrl } from '../platform/session-guard.ts'
import { t } from '../texts/texts.ts'

/** Covers the page until the user has signed in again. */
export default function SignInDialog() {
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      title={t('auth.dialog.title')}
      zIndex={1000}
    >
      <Stack>
        <Text>{t('auth.dialog.text')}</Text>
        <Button
          data-autofocus
          onClick={() =>
            void window.open(signInUrl('/dashboard/signed-in'), '_blank', 'popup,width=480,height=680')
          }
        >
          {t('auth.dialog.button')}
        </Button>
        <Button
          variant="default"
          onClick={() =>
            void window.open(
              organizationSignInUrl('/dashboard/signed-in'),
              '_blank',
              'popup,width=480,height=680',
            )
          }
        >
          {t('auth.signIn.organization')}
        </Button>
      </Stack>
    </Modal>
  )
}
