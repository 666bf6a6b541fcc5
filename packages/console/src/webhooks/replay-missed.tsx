import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { Problem } from '../ui/states.tsx'
import { useWebhookChange, type Webhook } from './queries.ts'

const HOUR_MS = 3_600_000
const spans = [
  { value: '1', label: t('webhooks.replay.hour') },
  { value: '24', label: t('webhooks.replay.day') },
  { value: '168', label: t('webhooks.replay.week') },
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
        {t('webhooks.replay.title')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        title={t('webhooks.replay.title')}
        onExitTransitionEnd={replay.reset}
      >
        <Stack>
          <Select
            label={t('webhooks.replay.since')}
            description={t('webhooks.replay.sinceNote')}
            data={spans}
            value={hours}
            onChange={(value) => value && setHours(value)}
            allowDeselect={false}
            data-autofocus
          />
          <Text role="status">
            {result && t('webhooks.replay.resending', { count: result.replayed })}
            {result?.more && ` ${t('webhooks.replay.more')}`}
          </Text>
          <Problem error={replay.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.close')}
            </Button>
            <Button loading={replay.isPending} onClick={() => replay.mutate(undefined)}>
              {t('webhooks.replay.resend')}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
