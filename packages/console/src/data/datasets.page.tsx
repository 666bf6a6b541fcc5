import { Table, Text } from '@mantine/core'
import { language, t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { dataSize } from '../ui/format.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type Dataset, useDatasets } from './use-datasets.ts'

/** Lists the datasets of the owner's robots. */
export const DatasetsPage = () => (
  <Page title={t('data.datasets.title')} description={t('data.datasets.description')}>
    <QueryView
      query={useDatasets()}
      isEmpty={({ datasets }) => datasets.length === 0}
      empty={<Empty title={t('data.datasets.emptyTitle')}>{t('data.datasets.emptyText')}</Empty>}
    >
      {({ datasets }) => <DatasetTable datasets={datasets} />}
    </QueryView>
  </Page>
)

const DatasetTable = ({ datasets }: { datasets: readonly Dataset[] }) => (
  <DataTable
    label={t('data.datasets.label')}
    minWidth={520}
    columns={[
      t('data.datasets.robot'),
      t('data.datasets.episodes'),
      t('data.datasets.size'),
      t('data.datasets.lastAdded'),
    ]}
  >
    {datasets.map((dataset) => (
      <Table.Tr key={dataset.id}>
        <Table.Td>
          <LinkAnchor to="/datasets/$datasetId" params={{ datasetId: dataset.id }} fw={600}>
            {dataset.robot_name}
          </LinkAnchor>
          <Text size="sm" c="dimmed">
            {dataset.robot_type}
          </Text>
        </Table.Td>
        <Table.Td>{dataset.episode_count.toLocaleString(language)}</Table.Td>
        <Table.Td>{dataSize(dataset.size_mb)}</Table.Td>
        <Table.Td>
          <Time at={dataset.updated_at} />
        </Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
