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

/** Requests of operators to drive a type of robot: those to decide, and those that were. */
export const CertificationsPage = () => (
  <AdminPage title="Certification requests" description="Who may drive which type of robot.">
    <Waiting />
    <Decided />
  </AdminPage>
)

function Waiting() {
  const { rest } = usePlatform()
  const query = useQuery(certificationsQuery(rest, 'PENDING'))
  return (
    <Stack component="section" aria-label="Waiting" gap="sm">
      <Title order={2}>Waiting</Title>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title="Nobody is waiting" />}
      >
        {({ certifications }) => (
          <>
            <Limit reached={certifications.length === LIST_LIMIT} which="that have waited longest" />
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
const none: Record<Settled, string> = {
  APPROVED: 'None was approved yet',
  REJECTED: 'None was rejected yet',
  REVOKED: 'None was revoked yet',
}

function Decided() {
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
        empty={<Empty title={none[status]} />}
      >
        {({ certifications }) => (
          <>
            <Limit reached={certifications.length === LIST_LIMIT} which="asked for last" />
            <DecidedTable requests={certifications} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const Limit = ({ reached, which }: { reached: boolean; which: string }) =>
  reached ? (
    <Text c="dimmed" size="sm">
      The {LIST_LIMIT} {which} are shown.
    </Text>
  ) : null
