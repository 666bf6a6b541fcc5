import { Badge, Table, Text } from '@mantine/core'
import { language, t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/states.tsx'
import { Time, useNow } from '../ui/time.tsx'
import { shortTime } from './freshness.tsx'
import type { Overview } from './overview-query.ts'

/** A gateway renews its row every few seconds. After this silence the platform is about to declare it dead. */
const SILENT_MS = 15_000

interface Props {
  readonly overview: Overview
  /** When the overview was fetched, by this device's clock. */
  readonly readAtMs: number
}

/** Lists the gateways and their health. */
export function Gateways({ overview: { at, gateways }, readAtMs }: Props) {
  const nowMs = useNow()
  if (gateways.length === 0)
    return <Empty title={t('admin.gateways.emptyTitle')}>{t('admin.gateways.emptyText')}</Empty>
  // Both times come from the database, so a wrong clock on this device does not matter.
  const silentMs = (seenAt: string) => Date.parse(at) - Date.parse(seenAt) + Math.max(0, nowMs - readAtMs)
  return (
    <DataTable
      label={t('admin.gateways.label')}
      minWidth={560}
      columns={[
        t('admin.gateways.address'),
        t('admin.gateways.robots'),
        t('admin.gateways.runningSince'),
        t('admin.gateways.lastSeen'),
      ]}
    >
      {gateways.map((gateway) => (
        <Table.Tr key={gateway.id}>
          <Table.Td>
            {gateway.url} {gateway.draining && <Badge color="orange.9">{t('admin.gateways.draining')}</Badge>}
          </Table.Td>
          <Table.Td>{gateway.robots.toLocaleString(language)}</Table.Td>
          <Table.Td>
            <Time at={gateway.started_at} />
          </Table.Td>
          <Table.Td>
            <Silence ms={silentMs(gateway.seen_at)} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  )
}

const Silence = ({ ms }: { ms: number }) => (
  <Text
    span
    inherit
    c={ms > SILENT_MS ? 'var(--mantine-color-error)' : undefined}
    fw={ms > SILENT_MS ? 600 : undefined}
  >
    {t(ms > SILENT_MS ? 'admin.gateways.silent' : 'admin.gateways.seen', { time: shortTime(ms) })}
  </Text>
)
