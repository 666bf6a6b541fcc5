import { Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { language, t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Freshness, shortTime } from './freshness.tsx'

const POLL_INTERVAL_MS = 5_000

const columns = [
  t('admin.queues.queue'),
  ...[
    t('admin.queues.failed'),
    t('admin.queues.retrying'),
    t('admin.queues.running'),
    t('admin.queues.due'),
    t('admin.queues.later'),
    t('admin.queues.oldestDue'),
  ].map((label) => ({ label, align: 'right' as const })),
]

/** Lists the queues with the number of their unfinished jobs. */
export function Queues() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.jobs, 'queues'],
    queryFn: async ({ signal }) => (await answerOf(rest.GET('/api/admin/jobs/queues', { signal }))).queues,
    refetchInterval: POLL_INTERVAL_MS,
  })
  return (
    <>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={(queues) => queues.length === 0}
        empty={<Empty title={t('admin.queues.emptyTitle')} />}
      >
        {(queues) => (
          <DataTable label={t('admin.jobs.queues')} minWidth={760} columns={columns}>
            {queues.map((queue) => (
              <Table.Tr key={queue.name}>
                <Table.Td>
                  <Text fw={600}>{queue.name}</Text>
                  <Text size="sm" c="dimmed">
                    {queue.cron
                      ? t('admin.queues.scheduled', { description: queue.description, cron: queue.cron })
                      : queue.description}
                  </Text>
                </Table.Td>
                <Count value={queue.failed} alarming />
                <Count value={queue.retrying} alarming />
                <Count value={queue.running} />
                <Count value={queue.due} />
                <Count value={queue.later} />
                <Table.Td ta="right">
                  {queue.due > 0 ? shortTime(queue.oldest_due_seconds * 1_000) : ''}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryView>
    </>
  )
}

const Count = ({ value, alarming = false }: { value: number; alarming?: boolean }) => (
  <Table.Td ta="right">
    <Text span inherit {...(alarming && value > 0 && { c: 'var(--mantine-color-error)', fw: 600 })}>
      {value.toLocaleString(language)}
    </Text>
  </Table.Td>
)
