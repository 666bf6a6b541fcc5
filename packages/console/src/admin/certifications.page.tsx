import { SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePlatform } from '../app/platform.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { AdminPage } from './admin-page.tsx'
import { CertificationCard } from './certification-card.tsx'
import { certificationsQuery, LIST_LIMIT } from './certifications-query.ts'
import { DecidedTable } from './decided-table.tsx'
import { Freshness } from './freshness.tsx'

/** Lists pending and decided certification requests. */
export const CertificationsPage = () => (
  <AdminPage title="Certification requests" description="Decide which operators may drive which robot types.">
    <PendingRequests />
    <DecidedRequests />
  </AdminPage>
)

function PendingRequests() {
  const { rest } = usePlatform()
  const query = useQuery(certificationsQuery(rest, 'PENDING'))
  return (
    <Stack component="section" aria-label="Pending" gap="sm">
      <Title order={2}>Pending</Title>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title="No pending requests" />}
      >
        {({ certifications }) => (
          <>
            <Limit reached={certifications.length === LIST_LIMIT} label="oldest requests" />
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

type Settled = 'APPROVED' | 'REJECTED' | 'REVOKED'
const emptyTitles: Record<Settled, string> = {
  APPROVED: 'No approved requests yet',
  REJECTED: 'No rejected requests yet',
  REVOKED: 'No revoked certifications yet',
}

function DecidedRequests() {
  const { rest } = usePlatform()
  const [status, setStatus] = useState<Settled>('APPROVED')
  const query = useQuery(certificationsQuery(rest, status))
  return (
    <Stack component="section" aria-label="Decided" gap="sm">
      <Title order={2}>Decided</Title>
      <SegmentedControl
        aria-label="Decision"
        value={status}
        onChange={setStatus}
        data={[
          { value: 'APPROVED', label: 'Approved' },
          { value: 'REJECTED', label: 'Rejected' },
          { value: 'REVOKED', label: 'Revoked' },
        ]}
        maw={320}
      />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={emptyTitles[status]} />}
      >
        {({ certifications }) => (
          <>
            <Limit reached={certifications.length === LIST_LIMIT} label="newest requests" />
            <DecidedTable requests={certifications} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const Limit = ({ reached, label }: { reached: boolean; label: string }) =>
  reached ? (
    <Text c="dimmed" size="sm">
      Showing the {LIST_LIMIT} {label}.
    </Text>
  ) : null
