import { Table } from '@mantine/core'
import { Time } from '../ui/time.tsx'
import type { CertificationRequest } from './certifications-query.ts'

/** Requests that were decided. */
export const DecidedTable = ({ requests }: { requests: readonly CertificationRequest[] }) => (
  <Table.ScrollContainer
    minWidth={560}
    scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Table of decisions' } }}
  >
    <Table aria-label="Decided requests">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Operator</Table.Th>
          <Table.Th>Robot type</Table.Th>
          <Table.Th>Note</Table.Th>
          <Table.Th>Decided</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {requests.map((request) => (
          <Table.Tr key={request.id}>
            <Table.Td>{request.operator_name}</Table.Td>
            <Table.Td>{request.robot_type}</Table.Td>
            <Table.Td style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{request.note}</Table.Td>
            <Table.Td>{request.decided_at && <Time at={request.decided_at} />}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
