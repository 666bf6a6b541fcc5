import { Autocomplete, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { Problem } from '../ui/states.tsx'
import { useIdempotentMutation } from './idempotent-mutation.ts'
import { type Certification, useModelName, useModels } from './queries.ts'

/** Requests a certification for a supported model or for any other robot type. */
export function CertificationForm({ certifications }: { certifications: readonly Certification[] }) {
  const [type, setType] = useState('')
  const [note, setNote] = useState('')
  const request = useRequest(() => {
    setType('')
    setNote('')
  })
  const models = useModels()
  const modelName = useModelName(type.trim())
  const existing = certifications.find(
    (certification) => certification.robot_type === type.trim() && certification.status !== 'REJECTED',
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!existing) request.mutate({ robot_type: type.trim(), ...(note.trim() && { note: note.trim() }) })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Autocomplete
          label={t('operator.certificationForm.robotType')}
          description={t('operator.certificationForm.robotTypeNote')}
          required
          limit={50}
          data={models.data?.models.map((model) => model.robot_type) ?? []}
          value={type}
          onChange={setType}
          error={existing && existingText(existing)}
        />
        {modelName && (
          <Text size="sm" c="dimmed">
            {modelName}
          </Text>
        )}
        <Textarea
          label={t('operator.certificationForm.experience')}
          description={t('operator.certificationForm.experienceNote')}
          autosize
          minRows={2}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <Problem error={request.error} />
        <Group>
          <Button type="submit" loading={request.isPending}>
            {t('operator.certificationForm.request')}
          </Button>
          <Text size="sm" c="dimmed" role="status">
            {request.isSuccess
              ? t('operator.certificationForm.requested', { type: request.data.robot_type })
              : ''}
          </Text>
        </Group>
      </Stack>
    </form>
  )
}

const existingText = ({ robot_type, status }: Certification) =>
  status === 'APPROVED'
    ? t('operator.certificationForm.certified', { type: robot_type })
    : t('operator.certificationForm.pending', { type: robot_type })

function useRequest(onDone: () => void) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useIdempotentMutation({
    send: (body: { robot_type: string; note?: string }, key) =>
      answerOf(
        rest.POST('/api/operator/certifications', { body, params: { header: { 'Idempotency-Key': key } } }),
      ),
    onSuccess: () => {
      onDone()
      return queries.invalidateQueries({ queryKey: keys.certifications })
    },
  })
}
