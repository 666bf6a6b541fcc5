import { Card, Group, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton, ReasonButton } from '../base/confirm-button.tsx'
import { DataTable } from '../base/data-table.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { certificationStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { Freshness } from './freshness.tsx'
import { type CertificationRequest, certificationsQuery, LIST_LIMIT } from './queries.ts'
import { RevokeButton } from './revoke-button.tsx'

/** Lists pending and decided certification requests. */
export const CertificationsPage = () => (
  <AdminPage
    title={t('admin.certificationRequests.title')}
    description={t('admin.certificationRequests.description')}
  >
    <PendingRequests />
    <DecidedRequests />
  </AdminPage>
)

function PendingRequests() {
  const { rest } = usePlatform()
  const query = useQuery(certificationsQuery(rest, 'PENDING'))
  return (
    <Stack component="section" aria-label={certificationStatusTexts.PENDING} gap="sm">
      <Title order={2}>{certificationStatusTexts.PENDING}</Title>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={t('admin.certificationRequests.noPending')} />}
      >
        {({ certifications }) => (
          <>
            {certifications.length === LIST_LIMIT && (
              <Limit>{t('admin.certificationRequests.oldest', { limit: LIST_LIMIT })}</Limit>
            )}
            <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
              {certifications.map((request) => (
                <li key={request.id}>
                  <CertificationCard request={request} />
                </li>
              ))}
            </Stack>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const settled = ['APPROVED', 'REJECTED', 'REVOKED'] as const
type Settled = (typeof settled)[number]
const emptyTitles: Record<Settled, string> = {
  APPROVED: t('admin.certificationRequests.noApproved'),
  REJECTED: t('admin.certificationRequests.noRejected'),
  REVOKED: t('admin.certificationRequests.noRevoked'),
}

function DecidedRequests() {
  const { rest } = usePlatform()
  const [status, setStatus] = useState<Settled>('APPROVED')
  const query = useQuery(certificationsQuery(rest, status))
  return (
    <Stack component="section" aria-label={t('admin.certificationRequests.decided')} gap="sm">
      <Title order={2}>{t('admin.certificationRequests.decided')}</Title>
      <SegmentedControl
        aria-label={t('admin.certificationRequests.decision')}
        value={status}
        onChange={setStatus}
        data={settled.map((value) => ({ value, label: certificationStatusTexts[value] }))}
        maw={320}
      />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={emptyTitles[status]} />}
      >
        {({ certifications }) => (
          <>
            {certifications.length === LIST_LIMIT && (
              <Limit>{t('admin.certificationRequests.newest', { limit: LIST_LIMIT })}</Limit>
            )}
            <DecidedTable requests={certifications} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const Limit = ({ children }: { children: string }) => (
  <Text c="dimmed" size="sm">
    {children}
  </Text>
)

/** Shows a pending certification request and its approve and reject buttons. */
function CertificationCard({ request }: { request: CertificationRequest }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const { id, operator_name: name, robot_type: type, note } = request
  const params = { path: { id } }
  const refresh = () => queries.invalidateQueries({ queryKey: keys.certifications })
  const approve = async () => {
    await answerOf(rest.POST('/api/admin/certifications/{id}/approve', { params }))
    await refresh()
  }
  const reject = async (reason: string) => {
    await answerOf(rest.POST('/api/admin/certifications/{id}/reject', { params, body: { reason } }))
    await refresh()
  }
  return (
    <Card withBorder padding="sm" component="article" aria-label={`${name}, ${type}`}>
      <Stack gap="xs">
        <div>
          <Text fw={600}>
            {name} · {type}
          </Text>
          <Text size="sm" c="dimmed">
            {textParts('admin.certificationRequest.requested', {
              time: <Time at={request.requested_at} />,
            })}
          </Text>
        </div>
        {note && <Text style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{note}</Text>}
        <Group gap="xs">
          <ConfirmButton
            color="teal.9"
            question={t('admin.certificationRequest.approveQuestion', { name, type })}
            consequence={t('admin.certificationRequest.approveConsequence', { name })}
            confirmLabel={t('admin.certificationRequest.approve')}
            confirmColor="teal.9"
            onConfirm={approve}
            aria-label={t('admin.certificationRequest.approveLabel', { name, type })}
          >
            {t('admin.certificationRequest.approve')}
          </ConfirmButton>
          <ReasonButton
            variant="default"
            question={t('admin.certificationRequest.rejectQuestion', { name, type })}
            consequence={t('admin.certificationRequest.rejectConsequence', { name })}
            confirmLabel={t('admin.certificationRequest.reject')}
            onConfirm={reject}
            aria-label={t('admin.certificationRequest.rejectLabel', { name, type })}
          >
            {t('admin.certificationRequest.reject')}
          </ReasonButton>
        </Group>
      </Stack>
    </Card>
  )
}

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists decided requests. Approved ones have a revoke button. */
const DecidedTable = ({ requests }: { requests: readonly CertificationRequest[] }) => (
  <DataTable
    label={t('admin.decidedRequests.label')}
    minWidth={640}
    columns={[
      t('admin.decidedRequests.operator'),
      t('admin.decidedRequests.robotType'),
      t('admin.decidedRequests.note'),
      t('admin.decidedRequests.reason'),
      t('admin.decidedRequests.decided'),
      '',
    ]}
  >
    {requests.map((request) => (
      <Table.Tr key={request.id}>
        <Table.Td>{request.operator_name}</Table.Td>
        <Table.Td>{request.robot_type}</Table.Td>
        <Table.Td style={wrapped}>{request.note}</Table.Td>
        <Table.Td style={wrapped}>{request.reason}</Table.Td>
        <Table.Td>{request.decided_at && <Time at={request.decided_at} />}</Table.Td>
        <Table.Td>{request.status === 'APPROVED' && <RevokeButton certification={request} />}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
