import { Table, Text } from '@mantine/core'
import { typeWords as words } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { LinkAnchor } from '../ui/links.tsx'
import { Time } from '../ui/time.tsx'
import { AuditData } from './audit-data.tsx'
import type { AuditSearch } from './audit-search.ts'

type Entry = Schemas['AuditEntry']
interface Props {
  readonly entries: readonly Entry[]
  readonly search: AuditSearch
}

/** Lists entries of the audit log. Actor, action and target are links that add a filter. */
export const AuditTable = ({ entries, search }: Props) => (
  <DataTable
    label={t('admin.audit.title')}
    minWidth={760}
    verticalSpacing="xs"
    columns={[
      t('admin.audit.time'),
      t('admin.audit.actor'),
      t('admin.audit.action'),
      t('admin.audit.target'),
      t('admin.audit.details'),
    ]}
  >
    {entries.map((entry) => (
      <Row key={entry.id} entry={entry} search={search} />
    ))}
  </DataTable>
)

const shortId = (id: string) => (id.length > 13 ? `${id.slice(0, 8)}…` : id)

const Row = ({ entry, search }: { entry: Entry; search: AuditSearch }) => (
  <Table.Tr data-entry={entry.id} style={{ verticalAlign: 'top' }}>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <Time at={entry.at} exact />
    </Table.Td>
    <Table.Td>
      {entry.actor_id === null ? (
        t('admin.audit.platform')
      ) : (
        <LinkAnchor to="/admin/audit" search={{ ...search, actor: entry.actor_id }}>
          {entry.actor_name ?? t('admin.audit.unknownUser')}
        </LinkAnchor>
      )}
    </Table.Td>
    <Table.Td>
      <LinkAnchor to="/admin/audit" search={{ ...search, action: entry.action }}>
        {words(entry.action)}
      </LinkAnchor>
    </Table.Td>
    <Table.Td>
      {words(entry.subject_type)}
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {entry.subject_deleted ? (
          textParts('admin.audit.deleted', { target: <Target entry={entry} search={search} /> })
        ) : (
          <Target entry={entry} search={search} />
        )}
      </Text>
    </Table.Td>
    <Table.Td>
      <AuditData data={entry.data} />
    </Table.Td>
  </Table.Tr>
)

const Target = ({ entry, search }: { entry: Entry; search: AuditSearch }) => (
  <LinkAnchor
    inherit
    to="/admin/audit"
    search={{ ...search, subject: entry.subject_id }}
    title={entry.subject_id}
    aria-label={`${words(entry.subject_type)} ${entry.subject_name ?? entry.subject_id}`}
  >
    {entry.subject_name ?? shortId(entry.subject_id)}
  </LinkAnchor>
)
