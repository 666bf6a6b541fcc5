import { Checkbox, Group, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { DataTable } from '../base/data-table.tsx'
import { dataSize } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { language, t } from '../texts/texts.ts'
import { ExportButton } from './export-dialog.tsx'
import { type Dataset, reasonText, toggled, useDatasets } from './use-datasets.ts'

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
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const ids = datasets.map(({ id }) => id).filter((id) => chosen.has(id))
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
        {datasets.map((dataset) => (
          <Row
            key={dataset.id}
            dataset={dataset}
            isChosen={chosen.has(dataset.id)}
            onChoose={() => setChosen(toggled(chosen, dataset.id))}
          />
        ))}
      </DataTable>
    </>
  )
}

const Row = (props: { dataset: Dataset; isChosen: boolean; onChoose: () => void }) => {
  const { id, robot_name, robot_type, episode_count, size_mb, updated_at } = props.dataset
  const { exportable_count, not_exportable } = props.dataset
  return (
    <Table.Tr>
      <Table.Td>
        <Checkbox
          aria-label={t('data.datasets.chooseLabel', { robot: robot_name })}
          checked={props.isChosen}
          onChange={props.onChoose}
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
      <Table.Td ta="right">{episode_count.toLocaleString(language)}</Table.Td>
      <Table.Td>
        {exportable_count.toLocaleString(language)}
        {not_exportable.map(({ reason, count }) => (
          <Text key={reason} size="sm" c="dimmed">
            {t('data.datasets.reason', { count, reason: reasonText(reason) })}
          </Text>
        ))}
      </Table.Td>
      <Table.Td ta="right">{dataSize(size_mb)}</Table.Td>
      <Table.Td>
        <Time at={updated_at} />
      </Table.Td>
    </Table.Tr>
  )
}
