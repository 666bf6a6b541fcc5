import { Table } from '@mantine/core'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Time } from '../ui/time.tsx'
import type { CertificationRequest } from './certifications-query.ts'
import { RevokeButton } from './revoke-button.tsx'

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists decided requests. Approved ones have a revoke button. */
export const DecidedTable = ({ requests }: { requests: readonly CertificationRequest[] }) => (
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
