import { Card, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { PlainList, RowTable, type TableColumn, wrapped } from '../base/data-table.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { useAction } from '../platform/rest.ts'
import { certificationStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import {
  AdminPage,
  type CertificationRequest,
  Freshness,
  LIST_LIMIT,
  RevokeButton,
  useCertificationRequests,
} from './admin-page.tsx'

export const CertificationsPage = () => (
  <AdminPage
    title={t('admin.certificationRequests.title')}
    description={t('admin.certificationRequests.description')}
  >
    <PendingRequests />
    <DecidedRequests />
  </AdminPage>
)

interface RequestsProps {
  readonly status: CertificationRequest['status']
  readonly title: string
  /** What stands above the list. */
  readonly head?: ReactNode
  readonly withAge?: boolean
  readonly empty: string
  /** Says that there are more requests than shown. */
  readonly limit: string
  readonly children: (requests: readonly CertificationRequest[]) => ReactNode
}

function Requests({ status, title, head, withAge, empty, limit, children }: RequestsProps) {
  const query = useCertificationRequests(status)
  return (
    <Stack component="section" aria-label={title} gap="sm">
      <Title order={2}>{title}</Title>
      {head}
      {withAge && <Freshness query={query} />}
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={empty} />}
      >
        {({ certifications }) => (
          <>
            {certifications.length === LIST_LIMIT && <Note>{limit}</Note>}
            {children(certifications)}
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const PendingRequests = () => (
  <Requests
    status="PENDING"
    title={certificationStatusTexts.PENDING}
    withAge
    empty={t('admin.certificationRequests.noPending')}
    limit={t('admin.certificationRequests.oldest', { limit: LIST_LIMIT })}
  >
    {(requests) => (
      <PlainList rows={requests}>{(request) => <CertificationCard request={request} />}</PlainList>
    )}
  </Requests>
)

const settled = ['APPROVED', 'REJECTED', 'REVOKED'] as const
type Settled = (typeof settled)[number]
const emptyTitles: Record<Settled, string> = {
  APPROVED: t('admin.certificationRequests.noApproved'),
  REJECTED: t('admin.certificationRequests.noRejected'),
  REVOKED: t('admin.certificationRequests.noRevoked'),
}

function DecidedRequests() {
  const [status, setStatus] = useState<Settled>('APPROVED')
  return (
    <Requests
      status={status}
      title={t('admin.certificationRequests.decided')}
      head={
        <SegmentedControl
          aria-label={t('admin.certificationRequests.decision')}
          value={status}
          onChange={setStatus}
          data={settled.map((value) => ({ value, label: certificationStatusTexts[value] }))}
          maw={320}
        />
      }
      empty={emptyTitles[status]}
      limit={t('admin.certificationRequests.newest', { limit: LIST_LIMIT })}
    >
      {(requests) => (
        <RowTable
          label={t('admin.decidedRequests.label')}
          minWidth={640}
          columns={decidedColumns}
          rows={requests}
        />
      )}
    </Requests>
  )
}

/** Decided requests. Approved ones have a revoke button. */
const decidedColumns: readonly TableColumn<CertificationRequest>[] = [
  [t('admin.decidedRequests.operator'), ({ operator_name }) => operator_name],
  [t('admin.decidedRequests.robotType'), ({ robot_type }) => robot_type],
  [t('admin.decidedRequests.note'), ({ note }) => note, { style: wrapped }],
  [t('admin.decidedRequests.reason'), ({ reason }) => reason, { style: wrapped }],
  [t('admin.decidedRequests.decided'), ({ decided_at }) => decided_at && <Time at={decided_at} />],
  ['', (request) => request.status === 'APPROVED' && <RevokeButton certification={request} />],
]

function CertificationCard({ request }: { request: CertificationRequest }) {
  const { id, operator_name: name, robot_type: type, note } = request
  const params = { path: { id } }
  const approve = useAction(
    (rest) => rest.POST('/api/admin/certifications/{id}/approve', { params }),
    keys.certifications,
  )
  const reject = useAction(
    (rest, reason: string) =>
      rest.POST('/api/admin/certifications/{id}/reject', { params, body: { reason } }),
    keys.certifications,
  )
  return (
    <Card padding="sm" component="article" aria-label={`${name}, ${type}`}>
      <Stack gap="xs">
        <div>
          <Text fw={600}>
            {name} · {type}
          </Text>
          <Note>
            {textParts('admin.certificationRequest.requested', {
              time: <Time at={request.requested_at} />,
            })}
          </Note>
        </div>
        {note && <Text style={wrapped}>{note}</Text>}
        <Group gap="xs">
          <ConfirmButton
            color="teal.9"
            question={t('admin.certificationRequest.approveQuestion', { name, type })}
            consequence={t('admin.certificationRequest.approveConsequence', { name })}
            confirmLabel={t('admin.certificationRequest.approve')}
            onConfirm={() => approve()}
            aria-label={t('admin.certificationRequest.approveLabel', { name, type })}
          />
          <ConfirmButton
            asksReason
            question={t('admin.certificationRequest.rejectQuestion', { name, type })}
            consequence={t('admin.certificationRequest.rejectConsequence', { name })}
            confirmLabel={t('admin.certificationRequest.reject')}
            onConfirm={reject}
            aria-label={t('admin.certificationRequest.rejectLabel', { name, type })}
          />
        </Group>
      </Stack>
    </Card>
  )
}
