import { Badge, Table } from '@mantine/core'
import { certificationStatusTexts } from '@wheelhouse/protocol'
import { DataTable } from '../ui/data-table.tsx'
import { Page } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { CertificationForm } from './certification-form.tsx'
import { type Certification, useCertifications } from './queries.ts'

const colors = {
  PENDING: 'orange.9',
  APPROVED: 'teal.9',
  REJECTED: 'gray.7',
  REVOKED: 'red.9',
} as const

/** Lists the operator's certifications and requests new ones. */
export function CertificationsPage() {
  const query = useCertifications()
  return (
    <Page
      title="Certifications"
      description="Some robots require a certification for their type. An administrator approves it."
    >
      <Section title="Request a certification">
        <CertificationForm certifications={query.data?.certifications ?? []} />
      </Section>
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title="No certifications yet" />}
      >
        {({ certifications }) => <List certifications={certifications} />}
      </QueryView>
    </Page>
  )
}

const List = ({ certifications }: { certifications: readonly Certification[] }) => (
  <DataTable
    label="Your certifications"
    minWidth={560}
    columns={['Robot type', 'Status', 'Requested', 'Decided', 'Reason', 'Your experience']}
  >
    {certifications.map(({ id, robot_type, status, requested_at, decided_at, reason, note }) => (
      <Table.Tr key={id}>
        <Table.Td>{robot_type}</Table.Td>
        <Table.Td>
          <Badge color={colors[status]}>{certificationStatusTexts[status]}</Badge>
        </Table.Td>
        <Table.Td>
          <Time at={requested_at} />
        </Table.Td>
        <Table.Td>{decided_at ? <Time at={decided_at} /> : 'not yet'}</Table.Td>
        <Table.Td style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{reason}</Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{note}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
