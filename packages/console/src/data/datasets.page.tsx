import { Checkbox, Group } from '@mantine/core'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { dataSize } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { language, t } from '../texts/texts.ts'
import { ExportButton } from './export-dialog.tsx'
import { type Dataset, reasonText, useChosen, useDatasets } from './use-datasets.ts'

export const DatasetsPage = () => (
  <Page
    title={t('data.datasets.title')}
    description={t('data.datasets.description')}
    link={['/datasets/exports', t('data.exports.link')]}
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
      <RowTable
        label={t('data.datasets.label')}
        minWidth={680}
        rows={datasets}
        columns={[
          [
            t('data.datasets.choose'),
            ({ id, robot_name }) => (
              <Checkbox
                aria-label={t('data.datasets.chooseLabel', { robot: robot_name })}
                checked={ids.includes(id)}
                onChange={() => toggle(id)}
              />
            ),
          ],
          ...columns,
        ]}
      />
    </>
  )
}

const columns: readonly TableColumn<Dataset>[] = [
  [
    t('data.datasets.robot'),
    ({ id, robot_name, robot_type }) => (
      <>
        <LinkAnchor to="/datasets/$datasetId" params={{ datasetId: id }} fw={600}>
          {robot_name}
        </LinkAnchor>
        <Note>{robot_type}</Note>
      </>
    ),
  ],
  [
    { label: t('data.datasets.episodes'), align: 'right' },
    ({ episode_count }) => episode_count.toLocaleString(language),
  ],
  [
    t('data.datasets.exportable'),
    ({ exportable_count, not_exportable }) => (
      <>
        {exportable_count.toLocaleString(language)}
        {not_exportable.map(({ reason, count }) => (
          <Note key={reason}>{t('data.datasets.reason', { count, reason: reasonText(reason) })}</Note>
        ))}
      </>
    ),
  ],
  [{ label: t('data.datasets.size'), align: 'right' }, ({ size_mb }) => dataSize(size_mb)],
  [t('data.datasets.lastAdded'), ({ updated_at }) => <Time at={updated_at} />],
]
