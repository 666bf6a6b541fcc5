import { Table, Text } from '@mantine/core'
import { typeWords } from '@wheelhouse/protocol'
import { DataTable } from '../ui/data-table.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { RevokeButton } from './revoke-button.tsx'
import type { User } from './user-query.ts'

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists the certifications of a user. Approved ones have a revoke button. */
export const UserCertifications = ({ user }: { user: User }) => (
  <Section title="Certifications">
    {user.certifications.length === 0 ? (
      <Text c="dimmed">No certifications</Text>
    ) : (
      <DataTable
        label="Certifications"
        minWidth={560}
        columns={['Robot type', 'Status', 'Reason', 'Requested', 'Decided', '']}
      >
        {user.certifications.map((certification) => (
          <Table.Tr key={certification.id}>
            <Table.Td>{certification.robot_type}</Table.Td>
            <Table.Td>{typeWords(certification.status.toLowerCase())}</Table.Td>
            <Table.Td style={wrapped}>{certification.reason}</Table.Td>
            <Table.Td>
              <Time at={certification.requested_at} />
            </Table.Td>
            <Table.Td>{certification.decided_at && <Time at={certification.decided_at} />}</Table.Td>
            <Table.Td>
              {certification.status === 'APPROVED' && (
                <RevokeButton
                  certification={{
                    id: certification.id,
                    operator_name: user.display_name,
                    robot_type: certification.robot_type,
                  }}
                />
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    )}
  </Section>
)
