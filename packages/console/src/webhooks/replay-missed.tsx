import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../app/platform.ts'
import { Problem } from '../ui/states.tsx'
import { useWebhookChange, type Webhook } from './queries.ts'

const HOUR_MS = 3_600_000
const spans = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: 'The last day' },
  { value: '168', label: 'The last week' },
]

/** Sends again what did not arrive, once a receiver is well again. */
export function ReplayMissed({ webhook }: { webhook: Webhook }) {
  const { rest } = usePlatform()
  const [opened, { open, close }] = useDisclosure(false)
  const [hours, setHours] = useState('24')
  const replay = useWebhookChange(() =>
    answerOf(
      rest.POST('/api/webhooks/{id}/replay', {
        params: { path: { id: webhook.id } },
        body: { since: new Date(Date.now() - Number(hours) * HOUR_MS).toISOString() },
      }),
    ),
  )
  const done = replay.data
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        Send what was missed
      </Button>
      <Modal opened={opened} onClose={close} title="Send what was missed" onExitTransitionEnd={replay.reset}>
        <Stack>
          <Select
            label="From when on"
            description="What did not arrive and is not waiting already, oldest first"
            data={spans}
            value={hours}
            onChange={(value) => value && setHours(value)}
            allowDeselect={false}
            data-autofocus
          />
          <Text role="status">
            {done && `${done.replayed === 1 ? '1 event is' : `${done.replayed} events are`} sent again.`}
            {done?.more && ' There are more: send once more.'}
          </Text>
          <Problem error={replay.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Close
            </Button>
            <Button loading={replay.isPending} onClick={() => replay.mutate(undefined)}>
              Send
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
