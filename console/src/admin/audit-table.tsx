import { Table, Text } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { LinkAnchor } from '../ui/links.tsx'
import { Time } from '../ui/time.tsx'
import { AuditData } from './audit-data.tsx'
import type { AuditSearch } from './audit-search.ts'
import { words } from './words.ts'

type Entry = Schemas['AuditEntry']
interface Props {
  readonly entries: readonly Entry[]
  readonly search: AuditSearch
}

/** Entries of the audit log. Who, what and to what are links that narrow the list to it. */
export const AuditTable = ({ entries, search }: Props) => (
  <Table.ScrollContainer
    minWidth={760}
    scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Table of entries' } }}
  >
    <Table aria-label="Audit log" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>When</Table.Th>
          <Table.Th>Who</Table.Th>
          <Table.Th>What</Table.Th>
          <Table.Th>To what</Table.Th>
          <Table.Th>Details</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} search={search} />
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

const Row = ({ entry, search }: { entry: Entry; search: AuditSearch }) => (
  <Table.Tr data-entry={entry.id} style={{ verticalAlign: 'top' }}>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <Time at={entry.at} exact />
    </Table.Td>
    <Table.Td>
      {entry.actor_id === null ? (
        'The platform'
      ) : (
        <LinkAnchor to="/admin/audit" search={{ ...search, actor: entry.actor_id }}>
          {entry.actor_name ?? 'Somebody'}
        </LinkAnchor>
      )}
    </Table.Td>
    <Table.Td>
      <LinkAnchor to="/admin/audit" search={{ ...search, action: entry.action }} title={entry.action}>
        {words(entry.action)}
      </LinkAnchor>
    </Table.Td>
    <Table.Td>
      {words(entry.subject_type)}
      <Text size="xs" ff="monospace" component="div">
        <LinkAnchor
          inherit
          to="/admin/audit"
          search={{ ...search, subject: entry.subject_id }}
          title={entry.subject_id}
          aria-label={`${words(entry.subject_type)} ${entry.subject_id}`}
        >
          {entry.subject_id.length > 13 ? `${entry.subject_id.slice(0, 8)}…` : entry.subject_id}
        </LinkAnchor>
      </Text>
    </Table.Td>
    <Table.Td>
      <AuditData data={entry.data} />
    </Table.Td>
  </Table.Tr>
)
