import { Autocomplete, Button, Group, Textarea } from '@mantine/core'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { RowTable, type TableColumn, wrapped } from '../base/data-table.tsx'
import { Form } from '../base/form.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { StateLabel } from '../status/state-label.tsx'
import { certificationStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { useIdempotentMutation } from './idempotent-mutation.ts'
import { type Certification, useCertifications, useModelName, useModels } from './queries.ts'

const shapes = { PENDING: 'delayed', APPROVED: 'live', REJECTED: 'off', REVOKED: 'blind' } as const

export function CertificationsPage() {
  const query = useCertifications()
  return (
    <Page title={t('operator.certifications.title')} description={t('operator.certifications.description')}>
      <Section title={t('operator.certifications.request')}>
        <CertificationForm certifications={query.data?.certifications ?? []} />
      </Section>
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={t('operator.certifications.emptyTitle')} />}
      >
        {({ certifications: rows }) => (
          <RowTable label={t('operator.certifications.label')} minWidth={560} columns={columns} rows={rows} />
        )}
      </QueryView>
    </Page>
  )
}

const columns: readonly TableColumn<Certification>[] = [
  [t('operator.certifications.robotType'), ({ robot_type }) => robot_type],
  [
    t('operator.certifications.status'),
    ({ status }) => <StateLabel shape={shapes[status]}>{certificationStatusTexts[status]}</StateLabel>,
  ],
  [t('operator.certifications.requested'), ({ requested_at }) => <Time at={requested_at} />],
  [
    t('operator.certifications.decided'),
    ({ decided_at: at }) => (at ? <Time at={at} /> : t('operator.certifications.notDecided')),
  ],
  [t('operator.certifications.reason'), ({ reason }) => reason, { style: wrapped }],
  [t('operator.certifications.experience'), ({ note }) => note, { style: { overflowWrap: 'anywhere' } }],
]

function CertificationForm({ certifications }: { certifications: readonly Certification[] }) {
  const [type, setType] = useState('')
  const [note, setNote] = useState('')
  const request = useIdempotentMutation({
    send: (rest, body: { robot_type: string; note?: string }, params) =>
      answerOf(rest.POST('/api/operator/certifications', { body, params })),
    refresh: [keys.certifications],
    onSuccess: () => {
      setType('')
      setNote('')
    },
  })
  const models = useModels()
  const modelName = useModelName(type.trim())
  const existing = certifications.find(
    (certification) => certification.robot_type === type.trim() && certification.status !== 'REJECTED',
  )
  const submit = () => {
    if (!existing) request.mutate({ robot_type: type.trim(), ...(note.trim() && { note: note.trim() }) })
  }
  return (
    <Form onSubmit={submit}>
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
      {modelName && <Note>{modelName}</Note>}
      <Textarea
        label={t('operator.certificationForm.experience')}
        description={t('operator.certificationForm.experienceNote')}
        minRows={2}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Problem error={request.error} />
      <Group>
        <Button type="submit" loading={request.isPending}>
          {t('operator.certificationForm.request')}
        </Button>
        <Note role="status">
          {request.isSuccess
            ? t('operator.certificationForm.requested', { type: request.data.robot_type })
            : ''}
        </Note>
      </Group>
    </Form>
  )
}

const existingText = ({ robot_type, status }: Certification) =>
  status === 'APPROVED'
    ? t('operator.certificationForm.certified', { type: robot_type })
    : t('operator.certificationForm.pending', { type: robot_type })
