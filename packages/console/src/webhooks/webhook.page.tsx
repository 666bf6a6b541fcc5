import { Stack, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { FormFooter, fieldErrors } from '../ui/form.tsx'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { ResourcePage, Section } from '../ui/section.tsx'
import { Deliveries } from './deliveries.tsx'
import { useWebhook, useWebhookChange, type Webhook } from './queries.ts'
import { RemoveWebhook, Secret, SwitchWebhook, TestWebhook } from './webhook-actions.tsx'
import { bodyOf, WebhookFields, type WebhookValues, webhookFields } from './webhook-fields.tsx'
import { WebhookBadge, WebhookStatusText } from './webhook-state.tsx'

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
              <WebhookBadge webhook={webhook} />
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
