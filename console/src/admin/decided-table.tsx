import { Table } from '@mantine/core'
import { DataTable } from '../ui/data-table.tsx'
import { Time } from '../ui/time.tsx'
import type { CertificationRequest } from './certifications-query.ts'

/** Requests that were decided. */
export const DecidedTable = ({ requests }: { requests: readonly CertificationRequest[] }) => (
  <DataTable label="Decided requests" minWidth={560} columns={['Operator', 'Robot type', 'Note', 'Decided']}>
    {requests.map((request) => (
      <Table.Tr key={request.id}>
        <Table.Td>{request.operator_name}</Table.Td>
        <Table.Td>{request.robot_type}</Table.Td>
        <Table.Td style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{request.note}</Table.Td>
        <Table.Td>{request.decided_at && <Time at={request.decided_at} />}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
