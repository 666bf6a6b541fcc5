import { Checkbox, Group, Table, Text } from '@mantine/core'
import { DataTable } from '../base/data-table.tsx'
import { dataSize } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { language, t } from '../texts/texts.ts'
import { ExportButton } from './export-dialog.tsx'
import { type Dataset, reasonText, useChosen, useDatasets } from './use-datasets.ts'

export const DatasetsPage = () => (
  <Page
    title={t('data.datasets.title')}
    description={t('data.datasets.description')}
    actions={
      <LinkButton to="/datasets/exports" variant="default">
        {t('data.exports.link')}
      </LinkButton>
    }
  >
    <QueryView
      query={useDatasets()}
      isEmpty={({ datasets }) => datasets.length === 0}
      empty={<Empty title={t('data.datasets.emptyTitle')}>{t('data.datasets.emptyText')}</Empty>}
    >
      {({ datasets }) => <DatasetTable datasets={datasets} />}
    </QueryView>
  </Page>
)

function DatasetTable({ datasets }: { datasets: readonly Dataset[] }) {
  const { ids, toggle } = useChosen(datasets)
  return (
    <>
      <Group>
        <ExportButton
          chosen={{ dataset_ids: ids }}
          about={ids.length === 1 ? datasets.find(({ id }) => id === ids[0])?.robot_name : undefined}
          disabled={ids.length === 0}
        >
          {ids.length === 0
            ? t('data.export.button')
            : t('data.export.buttonDatasets', { count: ids.length })}
        </ExportButton>
      </Group>
      <DataTable
        label={t('data.datasets.label')}
        minWidth={680}
        columns={[
          t('data.datasets.choose'),
          t('data.datasets.robot'),
          { label: t('data.datasets.episodes'), align: 'right' },
          t('data.datasets.exportable'),
          { label: t('data.datasets.size'), align: 'right' },
          t('data.datasets.lastAdded'),
        ]}
      >
        {datasets.map(({ id, robot_name, robot_type, ...dataset }) => (
          <Table.Tr key={id}>
            <Table.Td>
              <Checkbox
                aria-label={t('data.datasets.chooseLabel', { robot: robot_name })}
                checked={ids.includes(id)}
                onChange={() => toggle(id)}
              />
            </Table.Td>
            <Table.Td>
              <LinkAnchor to="/datasets/$datasetId" params={{ datasetId: id }} fw={600}>
                {robot_name}
              </LinkAnchor>
              <Text size="sm" c="dimmed">
                {robot_type}
              </Text>
            </Table.Td>
            <Table.Td ta="right">{dataset.episode_count.toLocaleString(language)}</Table.Td>
            <Table.Td>
              {dataset.exportable_count.toLocaleString(language)}
              {dataset.not_exportable.map(({ reason, count }) => (
                <Text key={reason} size="sm" c="dimmed">
                  {t('data.datasets.reason', { count, reason: reasonText(reason) })}
                </Text>
              ))}
            </Table.Td>
            <Table.Td ta="right">{dataSize(dataset.size_mb)}</Table.Td>
            <Table.Td>
              <Time at={dataset.updated_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </>
  )
}
