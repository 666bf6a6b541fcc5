import { Badge, Table } from '@mantine/core'
import { certificationStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
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
    <Page title={t('operator.certifications.title')} description={t('operator.certifications.description')}>
      <Section title={t('operator.certifications.request')}>
        <CertificationForm certifications={query.data?.certifications ?? []} />
      </Section>
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={t('operator.certifications.emptyTitle')} />}
      >
        {({ certifications }) => <List certifications={certifications} />}
      </QueryView>
    </Page>
  )
}

const List = ({ certifications }: { certifications: readonly Certification[] }) => (
  <DataTable
    label={t('operator.certifications.label')}
    minWidth={560}
    columns={[
      t('operator.certifications.robotType'),
      t('operator.certifications.status'),
      t('operator.certifications.requested'),
      t('operator.certifications.decided'),
      t('operator.certifications.reason'),
      t('operator.certifications.experience'),
    ]}
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
        <Table.Td>{decided_at ? <Time at={decided_at} /> : t('operator.certifications.notDecided')}</Table.Td>
        <Table.Td style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{reason}</Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{note}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
