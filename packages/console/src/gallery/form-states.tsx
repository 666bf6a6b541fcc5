import { Stack, TextInput } from '@mantine/core'
import { ApiError } from '@wheelhouse/sdk'
import { ConfirmButton, ReasonButton } from '../ui/confirm-button.tsx'
import { FormFooter } from '../ui/form.tsx'
import { CopyableSecret } from '../ui/secret.tsx'
import { inColumn } from './frames.tsx'
import type { GalleryBlock } from './gallery-state.ts'

const succeed = async () => undefined
const change = { error: undefined, isPending: false, isSuccess: false }

export const formBlocks: readonly GalleryBlock[] = [
  {
    title: 'Dialogs',
    use: 'Use them before an action that cannot be undone: name the consequence, and label the button with the action.',
    states: [
      {
        id: 'dialog-confirm',
        label: 'Confirmation',
        opensDialog: true,
        render: () => (
          <ConfirmButton
            variant="default"
            question="End this session?"
            consequence="The robot stops and becomes available. The charge is final. You cannot undo this."
            confirmLabel="End session"
            onConfirm={succeed}
          >
            End
          </ConfirmButton>
        ),
      },
      {
        id: 'dialog-reason',
        label: 'With a reason',
        opensDialog: true,
        render: () => (
          <ReasonButton
            variant="default"
            question="Reject this request?"
            consequence="The operator is notified and sees the reason."
            confirmLabel="Reject"
            onConfirm={succeed}
          >
            Reject
          </ReasonButton>
        ),
      },
    ],
  },
  {
    title: 'Forms',
    use: 'Use a footer for each form, and show the error of a field at the field.',
    states: [
      inColumn(
        'form-field-error',
        'Error of a field',
        <TextInput
          label="Contact email"
          description="Only operators of your sessions see it."
          error="Enter an e-mail address, such as ada@example.com."
          defaultValue="ada"
        />,
      ),
      inColumn('form-footer', 'Footer', <FormFooter change={change} />),
      inColumn('form-footer-saved', 'Footer, saved', <FormFooter change={{ ...change, isSuccess: true }} />),
      inColumn(
        'form-footer-error',
        'Footer, with an error',
        <Stack>
          <FormFooter change={{ ...change, error: new ApiError(500, 'Internal error') }} />
        </Stack>,
      ),
    ],
  },
  {
    title: 'Secret',
    use: 'Use it for a value to copy, such as a token or a command; a token is shown once.',
    states: [
      inColumn(
        'secret',
        'Command',
        <CopyableSecret label="Command" value="node robot.mjs https://hub.example" />,
      ),
    ],
  },
]
