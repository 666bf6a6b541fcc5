import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { useEffect, useState } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Problem } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { answerText } from './delivery-row.tsx'
import { toOneTimeSecret } from './one-time-secret.ts'
import { useDelivery, useWebhookChange, type Webhook, webhookKey } from './queries.ts'

interface Props {
  readonly webhook: Webhook
}

const pathOf = ({ id }: Webhook) => ({ params: { path: { id } } })

/** Sends something that is no event, to see whether it arrives; the log of deliveries tells. */
export function TestWebhook({ webhook }: Props) {
  const { rest } = usePlatform()
  const test = useWebhookChange(() => answerOf(rest.POST('/api/webhooks/{id}/test', pathOf(webhook))))
  return (
    <>
      <Problem error={test.error} />
      <Group>
        <Button loading={test.isPending} onClick={() => test.mutate(undefined)}>
          Send a test
        </Button>
        <Text role="status">
          {test.data && <TestOutcome webhookId={webhook.id} deliveryId={test.data.id} />}
        </Text>
      </Group>
    </>
  )
}

function TestOutcome({ webhookId, deliveryId }: { webhookId: string; deliveryId: string }) {
  const { data } = useDelivery(webhookId, deliveryId)
  const queries = useQueryClient()
  // A test is attempted once. The attempt is counted when it begins, so that the count says nothing of its end.
  const settled = data !== undefined && data.status !== 'PENDING'
  // The log has it by now, and the webhook may have been switched off by the answer.
  useEffect(() => {
    if (settled) void queries.invalidateQueries({ queryKey: keys.webhooks })
  }, [settled, queries])
  if (!settled) return 'The test is on its way.'
  const outcome = data.status === 'DELIVERED' ? 'The test has arrived' : 'The test did not arrive'
  return `${outcome}: ${answerText(data)}.`
}

export function SwitchWebhook({ webhook }: Props) {
  const { rest } = usePlatform()
  const turn = useWebhookChange((enabled: boolean) =>
    answerOf(rest.PATCH('/api/webhooks/{id}', { ...pathOf(webhook), body: { enabled } })),
  )
  if (webhook.enabled) {
    return (
      <Group>
        <ConfirmButton
          variant="default"
          question="Switch this webhook off?"
          consequence="What waits to be sent is given up, and what happens meanwhile is not sent."
          confirmLabel="Switch off"
          onConfirm={() => turn.mutateAsync(false)}
        >
          Switch off
        </ConfirmButton>
      </Group>
    )
  }
  return (
    <>
      <Problem error={turn.error} />
      <Group>
        <Button loading={turn.isPending} onClick={() => turn.mutate(true)}>
          Switch on
        </Button>
      </Group>
    </>
  )
}

/** Replaces the secret; the new one is shown this once. */
export function Secret({ webhook }: Props) {
  const { rest } = usePlatform()
  const [opened, { open, close }] = useDisclosure(false)
  const [keepOld, setKeepOld] = useState(true)
  const rotate = useWebhookChange((keep_old: boolean) =>
    answerOf(rest.POST('/api/webhooks/{id}/rotate-secret', { ...pathOf(webhook), body: { keep_old } })),
  )
  const forget = () => {
    rotate.reset()
    setKeepOld(true)
  }
  const made = rotate.data
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        Deliveries are signed with it.{' '}
        {webhook.old_secret_until && (
          <>
            The one before signs too until <Time at={webhook.old_secret_until} exact />.
          </>
        )}
      </Text>
      <Button variant="default" onClick={open}>
        Replace the secret
      </Button>
      <SecretDialog
        opened={opened}
        onClose={close}
        onClosed={forget}
        title="Replace the secret?"
        shown={made && toOneTimeSecret('The new secret', made)}
      >
        <Stack>
          <Checkbox
            label="The old one signs too for another 24 hours"
            description="So that your server goes on while you change it. Not if the secret has leaked."
            checked={keepOld}
            onChange={(event) => setKeepOld(event.currentTarget.checked)}
            data-autofocus
          />
          <Problem error={rotate.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Keep
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate(keepOld)}>
              Replace
            </Button>
          </Group>
        </Stack>
      </SecretDialog>
    </Group>
  )
}

export function RemoveWebhook({ webhook }: Props) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await answerOf(rest.DELETE('/api/webhooks/{id}', pathOf(webhook)))
    await navigate({ to: '/settings' })
    queries.removeQueries({ queryKey: webhookKey(webhook.id) })
    await queries.invalidateQueries({ queryKey: keys.webhooks })
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed">Nothing is sent there any more, and the log of deliveries is gone.</Text>
      <ConfirmButton
        color="red.9"
        question="Remove this webhook?"
        consequence="Its secret and the log of its deliveries go with it. This cannot be undone."
        confirmLabel="Remove"
        onConfirm={remove}
      >
        Remove the webhook
      </ConfirmButton>
    </Group>
  )
}
