import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { fieldErrors } from '../ui/form.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { Problem } from '../ui/states.tsx'
import { toOneTimeSecret } from './one-time-secret.ts'
import { bodyOf, WebhookFields, type WebhookValues, webhookFields } from './webhook-fields.tsx'

const empty: WebhookValues = { url: '', types: ['*'], description: '' }

/** Creates a webhook and shows its secret once. */
export function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
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
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{t('webhooks.new.note')}</Text>
          <WebhookFields
            values={values}
            errors={errors ?? {}}
            onChange={(part) => setValues((old) => ({ ...old, ...part }))}
          />
          {!errors && <Problem error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t('webhooks.new.add')}
            </Button>
          </Group>
        </Stack>
      </form>
    </SecretDialog>
  )
}
