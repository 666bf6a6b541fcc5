import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { fieldErrors } from '../ui/field-errors.ts'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { Problem } from '../ui/states.tsx'
import { toOneTimeSecret } from './one-time-secret.ts'
import { bodyOf, WebhookFields, type WebhookValues, webhookFields } from './webhook-fields.tsx'

const empty: WebhookValues = { url: '', types: ['*'], description: '' }

/** Asks where to send what, then shows the secret: this once. */
export function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [values, setValues] = useState(empty)
  const create = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/webhooks', { body: bodyOf(values) })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.webhooks }),
  })
  const refused = fieldErrors(create.error, webhookFields)
  const forget = () => {
    create.reset()
    setValues(empty)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  const made = create.data
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      onClosed={forget}
      title="Add a webhook"
      shown={made && toOneTimeSecret('Your new webhook', made)}
    >
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">
            Events are sent as JSON in a POST request, signed with a secret of the webhook.
          </Text>
          <WebhookFields
            values={values}
            errors={refused ?? {}}
            onChange={(part) => setValues((old) => ({ ...old, ...part }))}
          />
          {!refused && <Problem error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </SecretDialog>
  )
}
