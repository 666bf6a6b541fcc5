import { Table, Text } from '@mantine/core'
import { dataSize } from '../ui/format.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type Dataset, useDatasets } from './use-datasets.ts'

/** What each robot has recorded. */
export const DatasetsPage = () => (
  <Page title="Datasets" description="What your robots have recorded, one dataset for each">
    <QueryView
      query={useDatasets()}
      isEmpty={({ datasets }) => datasets.length === 0}
      empty={
        <Empty title="Nothing recorded yet">
          Robots report what they record as episodes. Here is how much there is, and where it lies.
        </Empty>
      }
    >
      {({ datasets }) => <DatasetTable datasets={datasets} />}
    </QueryView>
  </Page>
)

const DatasetTable = ({ datasets }: { datasets: readonly Dataset[] }) => (
  <Table.ScrollContainer minWidth={520} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table aria-label="Datasets">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Robot</Table.Th>
          <Table.Th>Episodes</Table.Th>
          <Table.Th>Size</Table.Th>
          <Table.Th>Grew last</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
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
            <Table.Td>{dataset.episode_count.toLocaleString()}</Table.Td>
            <Table.Td>{dataSize(dataset.size_mb)}</Table.Td>
            <Table.Td>
              <Time at={dataset.updated_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
