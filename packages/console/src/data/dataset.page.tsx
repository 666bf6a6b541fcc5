import { Anchor, Badge, Code, Table } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { t } from '../texts/texts.ts'
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
      title={dataset ? t('data.dataset.titleOf', { robot: dataset.robot_name }) : t('data.dataset.title')}
      description={
        dataset &&
        t('data.dataset.summary', { episodes: dataset.episode_count, size: dataSize(dataset.size_mb) })
      }
      actions={
        <LinkButton to="/datasets" variant="default">
          {t('data.dataset.all')}
        </LinkButton>
      }
    >
      <QueryView
        query={query}
        isEmpty={(episodes) => episodes.length === 0}
        empty={<Empty title={t('data.dataset.emptyTitle')} />}
      >
        {(episodes) => (
          <>
            <EpisodeTable episodes={episodes} />
            <MoreButton query={query}>{t('data.dataset.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </Page>
  )
}

const EpisodeTable = ({ episodes }: { episodes: readonly Episode[] }) => (
  <DataTable
    label={t('data.dataset.label')}
    minWidth={680}
    columns={[
      t('data.dataset.episode'),
      t('data.dataset.started'),
      t('data.dataset.length'),
      t('data.dataset.size'),
      t('data.dataset.outcome'),
      t('data.dataset.file'),
    ]}
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
  if (success === null) return t('data.dataset.unknown')
  return success ? (
    <Badge color="teal.9">{t('data.dataset.success')}</Badge>
  ) : (
    <Badge color="orange.9">{t('data.dataset.failure')}</Badge>
  )
}

/** Links to the file that the robot reported, if its address is a web address. */
function Recording({ uri }: { uri: string | null }) {
  if (uri === null) return t('data.dataset.noFile')
  const address = webAddress(uri)
  if (!address) return <Code style={{ overflowWrap: 'anywhere' }}>{uri}</Code>
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" style={{ overflowWrap: 'anywhere' }}>
      {uri}
    </Anchor>
  )
}
