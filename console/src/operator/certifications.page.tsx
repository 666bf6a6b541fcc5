import { Badge, Card, Stack, Table, Title } from '@mantine/core'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { CertificationForm } from './certification.form.tsx'
import { type Certification, useCertifications } from './queries.ts'

const shownAs = {
  PENDING: { label: 'Waiting', color: 'orange.9' },
  APPROVED: { label: 'Approved', color: 'teal.9' },
  REJECTED: { label: 'Declined', color: 'gray.7' },
} as const

/** What this operator is trusted with, and asking for more. */
export function CertificationsPage() {
  const query = useCertifications()
  return (
    <Page
      title="Certifications"
      description="You see and drive robots of the types you are certified for. An administrator decides."
    >
      <Card withBorder component="section" aria-label="Ask for a certification">
        <Stack>
          <Title order={2}>Ask for a certification</Title>
          <CertificationForm certifications={query.data?.certifications ?? []} />
        </Stack>
      </Card>
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title="You have not asked for a certification yet" />}
      >
        {({ certifications }) => <List certifications={certifications} />}
      </QueryView>
    </Page>
  )
}

const List = ({ certifications }: { certifications: readonly Certification[] }) => (
  <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table aria-label="Your certifications">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Robot type</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th>Asked</Table.Th>
          <Table.Th>Decided</Table.Th>
          <Table.Th>Your note</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {certifications.map(({ id, robot_type, status, requested_at, decided_at, note }) => (
          <Table.Tr key={id}>
            <Table.Td>{robot_type}</Table.Td>
            <Table.Td>
              <Badge color={shownAs[status].color}>{shownAs[status].label}</Badge>
            </Table.Td>
            <Table.Td>
              <Time at={requested_at} />
            </Table.Td>
            <Table.Td>{decided_at ? <Time at={decided_at} /> : 'not yet'}</Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{note}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
