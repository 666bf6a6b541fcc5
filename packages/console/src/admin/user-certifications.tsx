import { Table, Text } from '@mantine/core'
import { certificationStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { RevokeButton } from './revoke-button.tsx'
import type { User } from './user-query.ts'

const wrapped = { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } as const

/** Lists the certifications of a user. Approved ones have a revoke button. */
export const UserCertifications = ({ user }: { user: User }) => (
  <Section title={t('admin.certifications.title')}>
    {user.certifications.length === 0 ? (
      <Text c="dimmed">{t('admin.certifications.none')}</Text>
    ) : (
      <DataTable
        label={t('admin.certifications.title')}
        minWidth={560}
        columns={[
          t('admin.certifications.robotType'),
          t('admin.certifications.status'),
          t('admin.certifications.reason'),
          t('admin.certifications.requested'),
          t('admin.certifications.decided'),
          '',
        ]}
      >
        {user.certifications.map((certification) => (
          <Table.Tr key={certification.id}>
            <Table.Td>{certification.robot_type}</Table.Td>
            <Table.Td>{certificationStatusTexts[certification.status]}</Table.Td>
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
