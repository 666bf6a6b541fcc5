import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../app/platform.ts'
import { Problem } from '../ui/states.tsx'
import { useWebhookChange, type Webhook } from './queries.ts'

const HOUR_MS = 3_600_000
const spans = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last day' },
  { value: '168', label: 'Last week' },
]

/** Resends failed and missed events after an outage of the receiver. */
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
  const result = replay.data
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        Resend missed events
      </Button>
      <Modal opened={opened} onClose={close} title="Resend missed events" onExitTransitionEnd={replay.reset}>
        <Stack>
          <Select
            label="Since"
            description="Resends undelivered events, oldest first."
            data={spans}
            value={hours}
            onChange={(value) => value && setHours(value)}
            allowDeselect={false}
            data-autofocus
          />
          <Text role="status">
            {result && `Resending ${result.replayed === 1 ? '1 event' : `${result.replayed} events`}.`}
            {result?.more && ' More events are left. Resend again.'}
          </Text>
          <Problem error={replay.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Close
            </Button>
            <Button loading={replay.isPending} onClick={() => replay.mutate(undefined)}>
              Resend
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
