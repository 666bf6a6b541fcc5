import { Anchor, Checkbox, Code, Group, Table, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { DataTable, MoreButton } from '../base/data-table.tsx'
import { clockText, dataSize } from '../base/format.ts'
import { LinkAnchor, LinkButton, webAddress } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'
import { ExportButton } from './export-dialog.tsx'
import { type Episode, reasonText, useChosen, useDatasets, useEpisodes } from './use-datasets.ts'

export function DatasetPage() {
  const { datasetId } = useParams({ from: '/shell/datasets/$datasetId' })
  const dataset = useDatasets().data?.datasets.find(({ id }) => id === datasetId)
  const query = useEpisodes(datasetId)
  return (
    <Page
      title={dataset ? t('data.dataset.titleOf', { robot: dataset.robot_name }) : t('data.dataset.title')}
      description={
        dataset &&
        t('data.dataset.summary', {
          episodes: dataset.episode_count,
          exportable: dataset.exportable_count,
          size: dataSize(dataset.size_mb),
        })
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
            <EpisodeTable episodes={episodes} robotName={dataset?.robot_name} />
            <MoreButton query={query}>{t('data.dataset.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </Page>
  )
}

/** Returns whether the platform has recorded an episode, so that it can be replayed and exported. */
const isRecorded = ({ recording_id }: Episode) => recording_id !== null && recording_id !== undefined

function EpisodeTable(props: { episodes: readonly Episode[]; robotName: string | undefined }) {
  const { episodes, robotName } = props
  const { ids, toggle } = useChosen(episodes)
  return (
    <>
      <Group>
        <ExportButton chosen={{ episode_ids: ids }} about={robotName} disabled={ids.length === 0}>
          {ids.length === 0
            ? t('data.export.button')
            : t('data.export.buttonEpisodes', { count: ids.length })}
        </ExportButton>
      </Group>
      <DataTable
        label={t('data.dataset.label')}
        minWidth={720}
        columns={[
          t('data.dataset.choose'),
          t('data.dataset.task'),
          t('data.dataset.started'),
          t('data.dataset.length'),
          t('data.dataset.size'),
          t('data.dataset.outcome'),
          t('data.dataset.file'),
        ]}
      >
        {episodes.map((episode) => (
          <Row
            key={episode.id}
            episode={episode}
            isChosen={ids.includes(episode.id)}
            onChoose={() => toggle(episode.id)}
          />
        ))}
      </DataTable>
    </>
  )
}

const Row = ({ episode, ...choice }: { episode: Episode; isChosen: boolean; onChoose: () => void }) => (
  <Table.Tr>
    <Table.Td>
      <Checkbox
        aria-label={t('data.dataset.chooseLabel', { episode: episode.episode_id })}
        disabled={!isRecorded(episode)}
        checked={choice.isChosen}
        onChange={choice.onChoose}
      />
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text fw={600}>{episode.task ?? t('data.dataset.noTask')}</Text>
      <Text size="sm" c="dimmed" title={episode.episode_id}>
        {episode.source === 'platform' ? t('data.dataset.platform') : t('data.dataset.byRobot')}
      </Text>
    </Table.Td>
    <Table.Td>
      <Time at={episode.started_at} exact />
    </Table.Td>
    <Table.Td>{clockText((Date.parse(episode.ended_at) - Date.parse(episode.started_at)) / 1_000)}</Table.Td>
    <Table.Td>{dataSize(episode.size_mb)}</Table.Td>
    <Table.Td>
      {episode.success === null ? (
        t('data.dataset.unknown')
      ) : (
        <StateLabel shape={episode.success ? 'live' : 'delayed'}>
          {episode.success ? t('data.dataset.success') : t('data.dataset.failure')}
        </StateLabel>
      )}
      {episode.not_exportable && (
        <Text size="sm" c="dimmed">
          {reasonText(episode.not_exportable)}
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      <Content episode={episode} />
    </Table.Td>
  </Table.Tr>
)

function Content({ episode }: { episode: Episode }) {
  const { session_id, started_at, episode_id, uri } = episode
  if (!isRecorded(episode) || session_id === null) return <Recording uri={uri} />
  return (
    <LinkAnchor
      to="/sessions/$sessionId/replay"
      params={{ sessionId: session_id }}
      search={{ at: started_at }}
      aria-label={t('data.dataset.replayLabel', { episode: episode_id })}
    >
      {t('data.dataset.replay')}
    </LinkAnchor>
  )
}

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
