import { Table } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { DataTable } from '../ui/data-table.tsx'
import { ReasonButton } from '../ui/reason-button.tsx'
import { Time } from '../ui/time.tsx'
import type { CertificationRequest } from './certifications-query.ts'

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists decided requests. Approved ones have a revoke button. */
export const DecidedTable = ({ requests }: { requests: readonly CertificationRequest[] }) => (
  <DataTable
    label="Decided requests"
    minWidth={640}
    columns={['Operator', 'Robot type', 'Note', 'Reason', 'Decided', '']}
  >
    {requests.map((request) => (
      <Table.Tr key={request.id}>
        <Table.Td>{request.operator_name}</Table.Td>
        <Table.Td>{request.robot_type}</Table.Td>
        <Table.Td style={wrapped}>{request.note}</Table.Td>
        <Table.Td style={wrapped}>{request.reason}</Table.Td>
        <Table.Td>{request.decided_at && <Time at={request.decided_at} />}</Table.Td>
        <Table.Td>{request.status === 'APPROVED' && <Revoke request={request} />}</Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)

function Revoke({
  request: { id, operator_name: name, robot_type: type },
}: {
  request: CertificationRequest
}) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const revoke = async (reason: string) => {
    const params = { path: { id } }
    await answerOf(rest.POST('/api/admin/certifications/{id}/revoke', { params, body: { reason } }))
    await queries.invalidateQueries({ queryKey: keys.certifications })
  }
  return (
    <ReasonButton
      size="xs"
      variant="default"
      question={`Revoke the certification of ${name} for ${type}?`}
      consequence={`${name} sees the reason and can no longer start sessions on robots that require it. An open session continues. End it from the overview if necessary.`}
      confirmLabel="Revoke"
      onConfirm={revoke}
      aria-label={`Revoke ${name} for ${type}`}
    >
      Revoke
    </ReasonButton>
  )
}
