import { Button, Group, Stack } from '@mantine/core'
import { CopyableSecret, SecretNote } from '../ui/secret.tsx'

/** The secret of a webhook, this once, and what it is for. */
export const ShownSecret = ({ secret, onDone }: { secret: string; onDone: () => void }) => (
  <Stack>
    <SecretNote>
      Copy it now: it cannot be shown again. Your server checks with it that what it is sent comes from here,
      as Standard Webhooks describes.
    </SecretNote>
    <CopyableSecret label="Secret" value={secret} />
    <Group justify="flex-end">
      <Button onClick={onDone}>Done</Button>
    </Group>
  </Stack>
)
