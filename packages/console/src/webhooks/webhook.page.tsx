import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useEffect, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DialogButtons, FormFooter, fieldErrors } from '../base/form.tsx'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { ResourcePage, Section } from '../base/section.tsx'
import { Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { Deliveries, resultText } from './deliveries.tsx'
import { useDelivery, useWebhook, useWebhookChange, type Webhook, webhookKey } from './queries.ts'
import {
  bodyOf,
  toOneTimeSecret,
  WebhookFields,
  WebhookLabel,
  WebhookStatusText,
  type WebhookValues,
  webhookFields,
} from './webhook-fields.tsx'

/** Shows one webhook: status, deliveries, settings and secret. */
export function WebhookPage() {
  const { webhookId } = useParams({ from: '/shell/settings/webhooks/$webhookId' })
  return (
    <ResourcePage
      query={useWebhook(webhookId)}
      kind={t('webhooks.page.kind')}
      back={<LinkButton to="/settings">{t('webhooks.page.all')}</LinkButton>}
    >
      {(webhook) => (
        <Page
          key={webhook.id}
          title={t('webhooks.page.title', { host: new URL(webhook.url).host })}
          description={webhook.description ?? undefined}
          actions={
            <LinkButton to="/settings" variant="default">
              {t('webhooks.page.all')}
            </LinkButton>
          }
        >
          <Section title={t('webhooks.page.status')}>
            <div>
              <WebhookLabel webhook={webhook} />
            </div>
            <Text>
              <WebhookStatusText webhook={webhook} />
            </Text>
            <SwitchWebhook webhook={webhook} />
            {webhook.enabled && <TestWebhook webhook={webhook} />}
          </Section>
          <Section title={t('webhooks.page.deliveries')}>
            <Deliveries webhook={webhook} />
          </Section>
          <Section title={t('webhooks.page.endpoint')}>
            <WebhookForm webhook={webhook} />
          </Section>
          <Section title={t('webhooks.page.secret')}>
            <Secret webhook={webhook} />
          </Section>
          <Section title={t('webhooks.page.remove')}>
            <RemoveWebhook webhook={webhook} />
          </Section>
        </Page>
      )}
    </ResourcePage>
  )
}

function WebhookForm({ webhook: { id, url, types, description } }: { webhook: Webhook }) {
  const { rest } = usePlatform()
  const [values, setValues] = useState<WebhookValues>({ url, types, description: description ?? '' })
  const save = useWebhookChange((changed: WebhookValues) =>
    answerOf(rest.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body: bodyOf(changed) })),
  )
  const errors = fieldErrors(save.error, webhookFields)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(values)
  }
  const change = (part: Partial<WebhookValues>) => {
    if (save.isSuccess) save.reset() // hides "Saved"
    setValues((old) => ({ ...old, ...part }))
  }
  return (
    <form onSubmit={submit}>
      <Stack maw={640}>
        <WebhookFields values={values} errors={errors ?? {}} onChange={change} />
        <FormFooter change={save} explained={errors !== undefined} />
      </Stack>
    </form>
  )
}

interface Props {
  readonly webhook: Webhook
}

const pathOf = ({ id }: Webhook) => ({ params: { path: { id } } })

/** Sends a test delivery and shows its result. */
function TestWebhook({ webhook }: Props) {
  const { rest } = usePlatform()
  const test = useWebhookChange(() => answerOf(rest.POST('/api/webhooks/{id}/test', pathOf(webhook))))
  return (
    <>
      <Problem error={test.error} />
      <Group>
        <Button loading={test.isPending} onClick={() => test.mutate(undefined)}>
          {t('webhooks.test.send')}
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
  // A test has one attempt, counted when it starts. Only the status shows the end.
  const settled = data !== undefined && data.status !== 'PENDING'
  // Refreshes the log and the webhook, which the response may have disabled.
  useEffect(() => {
    if (settled) void queries.invalidateQueries({ queryKey: keys.webhooks })
  }, [settled, queries])
  if (!settled) return t('webhooks.test.sending')
  return t(data.status === 'DELIVERED' ? 'webhooks.test.delivered' : 'webhooks.test.failed', {
    result: resultText(data),
  })
}

function SwitchWebhook({ webhook }: Props) {
  const { rest } = usePlatform()
  const setEnabled = useWebhookChange((enabled: boolean) =>
    answerOf(rest.PATCH('/api/webhooks/{id}', { ...pathOf(webhook), body: { enabled } })),
  )
  if (webhook.enabled) {
    return (
      <Group>
        <ConfirmButton
          variant="default"
          question={t('webhooks.switch.question')}
          consequence={t('webhooks.switch.consequence')}
          confirmLabel={t('webhooks.switch.disable')}
          onConfirm={() => setEnabled.mutateAsync(false)}
        />
      </Group>
    )
  }
  return (
    <>
      <Problem error={setEnabled.error} />
      <Group>
        <Button loading={setEnabled.isPending} onClick={() => setEnabled.mutate(true)}>
          {t('webhooks.switch.enable')}
        </Button>
      </Group>
    </>
  )
}

/** Replaces the secret and shows the new one once. */
function Secret({ webhook }: Props) {
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
  const created = rotate.data
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('webhooks.secret.note')}{' '}
        {webhook.old_secret_until &&
          textParts('webhooks.secret.oldValid', { time: <Time at={webhook.old_secret_until} exact /> })}
      </Text>
      <Button variant="default" onClick={open}>
        {t('webhooks.secret.replaceSecret')}
      </Button>
      <SecretDialog
        opened={opened}
        onClose={close}
        onClosed={forget}
        title={t('webhooks.secret.question')}
        shown={created && toOneTimeSecret(t('webhooks.secret.newTitle'), created)}
      >
        <Stack>
          <Checkbox
            label={t('webhooks.secret.keepOld')}
            description={t('webhooks.secret.keepOldNote')}
            checked={keepOld}
            onChange={(event) => setKeepOld(event.currentTarget.checked)}
            data-autofocus
          />
          <Problem error={rotate.error} />
          <DialogButtons onCancel={close} loading={rotate.isPending} onClick={() => rotate.mutate(keepOld)}>
            {t('webhooks.secret.replace')}
          </DialogButtons>
        </Stack>
      </SecretDialog>
    </Group>
  )
}

function RemoveWebhook({ webhook }: Props) {
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
      <Text c="dimmed">{t('webhooks.remove.note')}</Text>
      <ConfirmButton
        color="red.9"
        question={t('webhooks.remove.question')}
        consequence={t('webhooks.remove.consequence')}
        confirmLabel={t('webhooks.remove.confirm')}
        onConfirm={remove}
      >
        {t('webhooks.remove.button')}
      </ConfirmButton>
    </Group>
  )
}
