import { Anchor, Badge, Code, Table } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { DataTable } from '../ui/data-table.tsx'
import { dataSize } from '../ui/format.ts'
import { LinkButton } from '../ui/links.tsx'
import { MoreButton } from '../ui/more-button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { webAddress } from '../ui/web-address.ts'
import { type Episode, useDatasets, useEpisodes } from './use-datasets.ts'

/** Lists the episodes of one dataset. */
export function DatasetPage() {
  const { datasetId } = useParams({ from: '/shell/datasets/$datasetId' })
  const dataset = useDatasets().data?.datasets.find(({ id }) => id === datasetId)
  const query = useEpisodes(datasetId)
  return (
    <Page
      title={dataset ? `Episodes of ${dataset.robot_name}` : 'Episodes'}
      description={
        dataset && `${dataset.episode_count.toLocaleString()} episodes, ${dataSize(dataset.size_mb)} in total`
      }
      actions={
        <LinkButton to="/datasets" variant="default">
          All datasets
        </LinkButton>
      }
    >
      <QueryView
        query={query}
        isEmpty={(episodes) => episodes.length === 0}
        empty={<Empty title="No episodes" />}
      >
        {(episodes) => (
          <>
            <EpisodeTable episodes={episodes} />
            <MoreButton query={query}>Older episodes</MoreButton>
          </>
        )}
      </QueryView>
    </Page>
  )
}

const EpisodeTable = ({ episodes }: { episodes: readonly Episode[] }) => (
  <DataTable
    label="Episodes"
    minWidth={680}
    columns={['Episode', 'Started', 'Length', 'Size', 'Outcome', 'File']}
  >
    {episodes.map((episode) => (
      <Row key={episode.id} episode={episode} />
    ))}
  </DataTable>
)

const Row = ({ episode }: { episode: Episode }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>{episode.episode_id}</Table.Td>
    <Table.Td>
      <Time at={episode.started_at} exact />
    </Table.Td>
    <Table.Td>{length(episode)}</Table.Td>
    <Table.Td>{dataSize(episode.size_mb)}</Table.Td>
    <Table.Td>
      <Outcome success={episode.success} />
    </Table.Td>
    <Table.Td>
      <Recording uri={episode.uri} />
    </Table.Td>
  </Table.Tr>
)

/** Returns the length as `1:56`. */
function length({ started_at, ended_at }: Episode): string {
  const seconds = Math.round((Date.parse(ended_at) - Date.parse(started_at)) / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function Outcome({ success }: { success: boolean | null }) {
  if (success === null) return 'unknown'
  return success ? <Badge color="teal.9">Success</Badge> : <Badge color="orange.9">Failure</Badge>
}

/** Links to the file that the robot reported, if its address is a web address. */
function Recording({ uri }: { uri: string | null }) {
  if (uri === null) return 'none'
  const address = webAddress(uri)
  if (!address) return <Code style={{ overflowWrap: 'anywhere' }}>{uri}</Code>
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" style={{ overflowWrap: 'anywhere' }}>
      {uri}
    </Anchor>
  )
}
