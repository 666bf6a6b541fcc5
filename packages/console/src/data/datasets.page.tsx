import {
  Anchor,
  Button,
  type ButtonProps,
  Checkbox,
  Code,
  CopyButton,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { MoreButton, RowTable, type TableColumn } from '../base/data-table.tsx'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { clockText, dataSize } from '../base/format.ts'
import { LinkAnchor, webAddress } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { ExportRow } from '../list/export-row.tsx'
import type { DatasetExport } from '../recording/recordings.ts'
import { StateLabel } from '../status/state-label.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import {
  type Dataset,
  type Episode,
  isRunning,
  type NewExport,
  reasonTexts,
  useChosen,
  useDatasetExports,
  useDatasets,
  useEpisodes,
  useRemoveExport,
  useStartExport,
} from './use-datasets.ts'

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
          <Note key={reason}>{t('data.datasets.reason', { count, reason: reasonTexts[reason] })}</Note>
        ))}
      </>
    ),
  ],
  [{ label: t('data.datasets.size'), align: 'right' }, ({ size_mb }) => dataSize(size_mb)],
  [t('data.datasets.lastAdded'), ({ updated_at }) => <Time at={updated_at} />],
]

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
        {not_exportable && <Note>{reasonTexts[not_exportable]}</Note>}
      </>
    ),
  ],
  [t('data.dataset.file'), contentOf],
]

function contentOf(episode: Episode): ReactNode {
  const { session_id, started_at, episode_id, uri } = episode
  if (isRecorded(episode) && session_id !== null)
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
  if (uri === null) return t('data.dataset.noFile')
  const address = webAddress(uri)
  if (!address) return <Code style={{ overflowWrap: 'anywhere' }}>{uri}</Code>
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" style={{ overflowWrap: 'anywhere' }}>
      {uri}
    </Anchor>
  )
}

const BYTES_PER_MB = 1_000_000

const states = {
  PENDING: [t('data.exports.pending'), 'request'],
  RUNNING: [t('data.exports.running'), 'request'],
  READY: [t('data.exports.ready'), 'off'],
  FAILED: [t('data.exports.failed'), 'delayed'],
} as const

export const DatasetExportsPage = () => (
  <Page
    title={t('data.exports.title')}
    description={t('data.exports.description')}
    link={['/datasets', t('data.dataset.all')]}
  >
    <QueryView
      query={useDatasetExports()}
      isEmpty={({ exports }) => exports.length === 0}
      empty={<Empty title={t('data.exports.emptyTitle')}>{t('data.exports.emptyText')}</Empty>}
    >
      {({ exports }) => (
        <Stack component="ul" gap="xs" p={0} m={0} aria-label={t('data.exports.title')}>
          {exports.map((stored) => (
            <Row key={stored.id} stored={stored} />
          ))}
        </Stack>
      )}
    </QueryView>
  </Page>
)

function downloadCommand(baseUrl: string): string {
  const [owner, name] = baseUrl.split('/').slice(2)
  return t('data.exports.command', { origin: location.origin, repository: `${owner}/${name}` })
}

function Row({ stored }: { stored: DatasetExport }) {
  const { id, name, status, fps, episodes, frames, size_bytes, base_url, error, created_at } = stored
  const remove = useRemoveExport(id)
  return (
    <ExportRow
      id={id}
      name={name}
      state={states[status]}
      progress={
        isRunning(stored)
          ? { percent: stored.progress * 100, label: t('data.exports.progress', { name }) }
          : undefined
      }
      error={error}
      dates={textParts('data.exports.rate', { fps, created: <Time at={created_at} /> })}
      actions={
        <>
          {status === 'READY' && (
            <CopyButton value={downloadCommand(base_url)}>
              {({ copied, copy }) => (
                <Button size="xs" variant="default" onClick={copy} aria-live="polite">
                  {copied ? t('data.exports.copied') : t('data.exports.copy')}
                </Button>
              )}
            </CopyButton>
          )}
          <ConfirmButton
            size="xs"
            question={t('data.exports.removeQuestion', { name })}
            consequence={t('data.exports.removeConsequence')}
            confirmLabel={t('data.exports.remove')}
            onConfirm={() => remove.mutateAsync()}
          >
            {t('data.exports.remove')}
          </ConfirmButton>
        </>
      }
    >
      <Text size="sm">
        {t('data.exports.content', {
          count: episodes,
          frames: frames.toLocaleString(language),
          size: dataSize(size_bytes / BYTES_PER_MB),
        })}
      </Text>
      {stored.left_out.count > 0 && <LeftOut leftOut={stored.left_out} />}
      {status === 'READY' && <Code style={{ overflowWrap: 'anywhere' }}>{location.origin + base_url}</Code>}
    </ExportRow>
  )
}

/** Names the episodes that are not in the dataset, with the reasons. */
const LeftOut = ({ leftOut: { count, episodes } }: { leftOut: DatasetExport['left_out'] }) => (
  <Text size="sm" component="details">
    <summary>{t('data.exports.leftOut', { count })}</summary>
    {episodes.map(({ id, episode_id, reason, missing_seconds }) => (
      <div key={id} style={{ overflowWrap: 'anywhere' }}>
        {t(reason === 'gaps' ? 'data.exports.leftOutGaps' : 'data.exports.leftOutEpisode', {
          episode: episode_id,
          reason: reasonTexts[reason],
          seconds: Math.round(missing_seconds),
        })}
      </div>
    ))}
    {count > episodes.length && t('data.exports.leftOutMore', { count: count - episodes.length })}
  </Text>
)

const MAX_FPS = 120
type Gaps = NonNullable<NewExport['gaps']>
const gapOptions: readonly { readonly value: Gaps; readonly label: string }[] = [
  { value: 'leave_out', label: t('data.export.leaveOut') },
  { value: 'cut', label: t('data.export.cut') },
  { value: 'include', label: t('data.export.include') },
]
type Alignment = NonNullable<NewExport['alignment']>
const alignmentOptions: readonly { readonly value: Alignment; readonly label: string }[] = [
  { value: 'causal', label: t('data.export.causal') },
  { value: 'nearest', label: t('data.export.nearest') },
]
type Align = NonNullable<NewExport['align']>
const alignOptions: readonly { readonly value: Align; readonly label: string }[] = [
  { value: 'time', label: t('data.export.time') },
  { value: 'seen', label: t('data.export.seen') },
]

const defaults = {
  fps: 30 as number | string,
  cameras: [] as string[],
  gaps: 'leave_out' as Gaps,
  alignment: 'causal' as Alignment,
  align: 'time' as Align,
  unfinished: false,
}

interface Props extends ButtonProps {
  readonly chosen: Pick<NewExport, 'episode_ids' | 'dataset_ids'>
  readonly about: string | undefined
  readonly children: ReactNode
}

/** Renders a button whose dialog exports episodes as a LeRobot dataset. */
export function ExportButton({ chosen, about, children, ...button }: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={t('data.export.title')}>
        {opened && <ExportForm chosen={chosen} about={about} onCancel={close} />}
      </Modal>
    </>
  )
}

/** Returns a name that the address of a dataset can have, such as `ronja-2026-11-20`. */
const nameOf = (about = 'episodes'): string =>
  [
    about
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'episodes',
    new Date().toISOString().slice(0, 10),
  ].join('-')

function ExportForm({ chosen, about, onCancel }: Pick<Props, 'chosen' | 'about'> & { onCancel: () => void }) {
  const start = useStartExport()
  const navigate = useNavigate()
  const [isChecked, setChecked] = useState(false)
  const { values, field, change, errors } = useFields(
    () => ({ ...defaults, name: nameOf(about) }),
    start.error,
  )
  const [isNamed, hasFps] = [values.name.trim() !== '', Number(values.fps) >= 1]
  const submit = () => {
    setChecked(true)
    if (!isNamed || !hasFps) return
    const { name, fps, cameras, ...options } = values
    const wanted = { ...chosen, ...options, name: name.trim(), fps: Number(fps) }
    start.mutate(cameras.length > 0 ? { ...wanted, cameras } : wanted, {
      onSuccess: () => void navigate({ to: '/datasets/exports' }),
    })
  }
  return (
    <Form onSubmit={submit} noValidate>
      <Text size="sm">{t('data.export.explanation')}</Text>
      <TextInput
        label={t('data.export.name')}
        description={t('data.export.nameNote')}
        required
        data-autofocus
        {...field('name')}
        error={isChecked && !isNamed ? t('data.export.nameMissing') : errors?.name}
      />
      <NumberInput
        label={t('data.export.fps')}
        description={t('data.export.fpsNote')}
        min={1}
        max={MAX_FPS}
        required
        {...field('fps')}
        error={isChecked && !hasFps ? t('data.export.fpsMissing', { most: MAX_FPS }) : errors?.fps}
      />
      <TagsInput
        label={t('data.export.cameras')}
        description={t('data.export.camerasNote')}
        {...field('cameras')}
      />
      <Select<Gaps>
        label={t('data.export.gaps')}
        description={t('data.export.gapsNote')}
        data={gapOptions}
        allowDeselect={false}
        value={values.gaps}
        onChange={(gaps) => gaps && change({ gaps })}
      />
      <Select<Alignment>
        label={t('data.export.alignment')}
        data={alignmentOptions}
        allowDeselect={false}
        value={values.alignment}
        onChange={(alignment) => alignment && change({ alignment })}
      />
      <Select<Align>
        label={t('data.export.align')}
        data={alignOptions}
        allowDeselect={false}
        value={values.align}
        onChange={(align) => align && change({ align })}
      />
      <Checkbox
        label={t('data.export.unfinished')}
        checked={values.unfinished}
        onChange={({ currentTarget: { checked: unfinished } }) => change({ unfinished })}
      />
      {!errors && <Problem error={start.error} />}
      <DialogButtons onCancel={onCancel} loading={start.isPending}>
        {t('data.export.start')}
      </DialogButtons>
    </Form>
  )
}
