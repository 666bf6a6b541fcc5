import { Anchor, Checkbox, Code, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { MoreButton, RowTable, type TableColumn } from '../base/data-table.tsx'
import { clockText, dataSize } from '../base/format.ts'
import { LinkAnchor, webAddress } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
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
      link={['/datasets', t('data.dataset.all')]}
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
      <RowTable
        label={t('data.dataset.label')}
        minWidth={720}
        rows={episodes}
        columns={[
          [
            t('data.dataset.choose'),
            (episode) => (
              <Checkbox
                aria-label={t('data.dataset.chooseLabel', { episode: episode.episode_id })}
                disabled={!isRecorded(episode)}
                checked={ids.includes(episode.id)}
                onChange={() => toggle(episode.id)}
              />
            ),
          ],
          ...episodeColumns,
        ]}
      />
    </>
  )
}

const episodeColumns: readonly TableColumn<Episode>[] = [
  [
    t('data.dataset.task'),
    ({ task, source, episode_id }) => (
      <>
        <Text fw={600}>{task ?? t('data.dataset.noTask')}</Text>
        <Text size="sm" c="dimmed" title={episode_id}>
          {source === 'platform' ? t('data.dataset.platform') : t('data.dataset.byRobot')}
        </Text>
      </>
    ),
    { style: { overflowWrap: 'anywhere' } },
  ],
  [t('data.dataset.started'), ({ started_at }) => <Time at={started_at} exact />],
  [
    t('data.dataset.length'),
    ({ started_at, ended_at }) => clockText((Date.parse(ended_at) - Date.parse(started_at)) / 1_000),
  ],
  [t('data.dataset.size'), ({ size_mb }) => dataSize(size_mb)],
  [
    t('data.dataset.outcome'),
    ({ success, not_exportable }) => (
      <>
        {success === null ? (
          t('data.dataset.unknown')
        ) : (
          <StateLabel shape={success ? 'live' : 'delayed'}>
            {success ? t('data.dataset.success') : t('data.dataset.failure')}
          </StateLabel>
        )}
        {not_exportable && <Note>{reasonText(not_exportable)}</Note>}
      </>
    ),
  ],
  [t('data.dataset.file'), (episode) => <Content episode={episode} />],
]

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
