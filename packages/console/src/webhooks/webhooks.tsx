import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { DataTable } from '../base/data-table.tsx'
import { DialogButtons, Form, fieldErrors } from '../base/form.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { SecretDialog } from '../base/secret.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { useWebhooks, type Webhook } from './queries.ts'
import {
  bodyOf,
  toOneTimeSecret,
  WebhookFields,
  WebhookLabel,
  type WebhookValues,
  webhookFields,
} from './webhook-fields.tsx'

/** Lists and creates webhooks. */
export function Webhooks() {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <Stack>
      <Group justify="space-between">
        <Note>{t('webhooks.list.note')}</Note>
        <Button variant="default" onClick={open}>
          {t('webhooks.list.add')}
        </Button>
      </Group>
      <NewWebhook opened={opened} onClose={close} />
      <QueryView
        query={useWebhooks()}
        isEmpty={({ webhooks }) => webhooks.length === 0}
        empty={<Empty title={t('webhooks.list.emptyTitle')} />}
      >
        {({ webhooks }) => (
          <DataTable
            label={t('webhooks.list.label')}
            minWidth={560}
            columns={[
              t('webhooks.list.address'),
              t('webhooks.list.events'),
              t('webhooks.list.status'),
              t('webhooks.list.lastDelivery'),
            ]}
          >
            {webhooks.map((webhook) => (
              <Row key={webhook.id} webhook={webhook} />
            ))}
          </DataTable>
        )}
      </QueryView>
    </Stack>
  )
}

const Row = ({ webhook }: { webhook: Webhook }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <LinkAnchor to="/settings/webhooks/$webhookId" params={{ webhookId: webhook.id }} fw={600}>
        {webhook.url}
      </LinkAnchor>
      {webhook.description && <Note>{webhook.description}</Note>}
    </Table.Td>
    <Table.Td>
      {webhook.types.includes('*') ? t('webhooks.list.allEvents') : webhook.types.join(', ')}
    </Table.Td>
    <Table.Td>
      <WebhookLabel webhook={webhook} />
    </Table.Td>
    <Table.Td>
      {webhook.last_success_at ? <Time at={webhook.last_success_at} /> : t('webhooks.list.never')}
    </Table.Td>
  </Table.Tr>
)

const empty: WebhookValues = { url: '', types: ['*'], description: '' }

/** Creates a webhook and shows its secret once. */
function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [values, setValues] = useState(empty)
  const create = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/webhooks', { body: bodyOf(values) })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.webhooks }),
  })
  const errors = fieldErrors(create.error, webhookFields)
  const forget = () => {
    create.reset()
    setValues(empty)
  }
  const created = create.data
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      onClosed={forget}
      title={t('webhooks.new.title')}
      shown={created && toOneTimeSecret(t('webhooks.new.secretTitle'), created)}
    >
      <Form onSubmit={() => create.mutate()}>
        <Text size="sm">{t('webhooks.new.note')}</Text>
        <WebhookFields
          values={values}
          errors={errors ?? {}}
          onChange={(part) => setValues((old) => ({ ...old, ...part }))}
        />
        {!errors && <Problem error={create.error} />}
        <DialogButtons onCancel={onClose} loading={create.isPending}>
          {t('webhooks.new.add')}
        </DialogButtons>
      </Form>
    </SecretDialog>
  )
}
