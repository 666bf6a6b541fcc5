import {
  ActionIcon,
  Box,
  Button,
  Group,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
  type UnstyledButtonProps,
} from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { recordingTopics, type TelemetrySchema } from '@wheelhouse/protocol'
import type { Pose } from '@wheelhouse/sdk'
import { type ComponentPropsWithRef, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { Form } from '../../base/form.tsx'
import { decimals } from '../../base/format.ts'
import { Note, Problem } from '../../base/states.tsx'
import { StateShape } from '../../status/state-label.tsx'
import {
  createSampleReader,
  formatPose,
  labelAndUnit,
  type Reading,
  withUnit,
} from '../../telemetry/sample-reader.ts'
import { drawTrail } from '../../telemetry/trail-map.ts'
import { dropText } from '../../texts/code-texts.ts'
import { percent } from '../../texts/percent.ts'
import { t } from '../../texts/texts.ts'
import { eachNumber } from '../data/overview.ts'
import { commandAt, type MomentReader } from '../data/recording-source.ts'
import type { Replay } from '../player/replay.ts'
import styles from './replay.module.css'
import { IconTrash } from './replay-icons.tsx'
import { preciseClock, usePosition, usePositionEffect } from './replay-time.ts'
import {
  episodeName,
  episodeResult,
  type LogEntry,
  type Mark,
  type StateSpan,
  spanAt,
  stateText,
  type Tracks,
} from './tracks.ts'

interface MapProps {
  readonly replay: Replay
  readonly schema: TelemetrySchema | null
}

const MAX_COMMAND_VALUES = 6

/** Shows everything that the recording has at the position: state, command and its decision, latency, all telemetry. */
export function NowPanel({ replay, schema, states }: MapProps & { states: readonly StateSpan[] }) {
  const atMs = usePosition(replay)
  const reader = useMemo(() => createSampleReader(schema), [schema])
  const { moments } = replay
  const sample = moments.at(recordingTopics.telemetry, atMs)
  const state = spanAt(states, atMs, 0)
  const readings = [
    [t('replay.now.state'), state ? stateText(state) : '–'] as const,
    ...driveReadings(moments, atMs),
    ...(sample ? reader.readings(sample.value.data) : []),
  ]
  return (
    <Box component="dl" m={0} py="xs" fz="sm" data-testid="values">
      {readings.map(([name, value], index) => (
        <Group
          key={name}
          justify="space-between"
          gap="sm"
          px={14}
          py={4}
          bg={index % 2 ? 'var(--surface-1)' : undefined}
        >
          <Text component="dt" inherit c="dimmed">
            {name}
          </Text>
          <Text component="dd" inherit m={0} ta="end" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </Group>
      ))}
    </Box>
  )
}

function driveReadings(moments: MomentReader, atMs: number): Reading[] {
  const command = commandAt(moments, atMs)
  const latency = moments.at(recordingTopics.latency, atMs)?.value
  const limits = moments.at(recordingTopics.limits, atMs)?.value
  const decision = command?.dropped === undefined ? t('replay.now.passed') : dropText(command.dropped)
  return [
    [t('replay.now.command'), command ? commandText(command.value.data) : '–'],
    [t('replay.now.decision'), command ? decision : '–'],
    [t('replay.now.operatorLatency'), msText(latency?.operator_ms)],
    [t('replay.now.robotLatency'), msText(latency?.robot_ms)],
    ...(typeof limits?.speed_scale === 'number'
      ? [[t('replay.plots.limit'), percent(limits.speed_scale)] as const]
      : []),
  ]
}

const msText = (ms: unknown) => (typeof ms === 'number' ? withUnit(Math.round(ms), 'ms') : '–')

/** Returns the numbers of a command, such as `0.50 m/s, 0.20 rad/s`. */
function commandText(data: unknown): string {
  const values: string[] = []
  eachNumber(data, (path, value) =>
    values.push(withUnit(decimals(value, 2), labelAndUnit(path.split('.')).unit)),
  )
  return values.length === 0 ? '–' : values.slice(0, MAX_COMMAND_VALUES).join(', ')
}

const ROW_PX = 34

/** Lists events and messages. The last one before the position is marked and in view; a click jumps to one. */
export function LogPanel({ replay, entries }: { replay: Replay; entries: readonly LogEntry[] }) {
  const [search, setSearch] = useState('')
  const found = useMemo(() => {
    const wanted = search.trim().toLowerCase()
    const matches = ({ text, sender = '' }: LogEntry) => `${sender} ${text}`.toLowerCase().includes(wanted)
    return wanted === '' ? entries : entries.filter(matches)
  }, [entries, search])
  const viewport = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const atMs = usePosition(replay)
  const current = found.findLastIndex((entry) => entry.atMs <= atMs)
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current, { align: 'auto' })
  }, [current, rows])
  return (
    <Stack gap={6} h="100%" pt="xs">
      <TextInput
        px="sm"
        size="xs"
        aria-label={t('replay.log.search')}
        placeholder={t('replay.log.search')}
        value={search}
        onChange={({ currentTarget: { value } }) => setSearch(value)}
      />
      <div className={styles.logRows} ref={viewport} data-testid="log">
        {found.length === 0 && <Note {...inList}>{t('replay.log.empty')}</Note>}
        <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const entry = found[index]
            return (
              entry && (
                <Row
                  key={key}
                  ref={rows.measureElement}
                  data-index={index}
                  style={{ transform: `translateY(${start}px)` }}
                  aria-current={index === current ? 'true' : undefined}
                  replay={replay}
                  atMs={entry.atMs}
                >
                  <StateShape name={entry.shape} />
                  <span>
                    {entry.sender !== undefined && <b>{entry.sender}: </b>}
                    {entry.text}
                  </span>
                </Row>
              )
            )
          })}
        </div>
      </div>
    </Stack>
  )
}

/** Renders a moment in a list: its time and what it is. A click jumps to it. */
const Row = ({
  replay,
  atMs,
  children,
  ...rest
}: UnstyledButtonProps & ComponentPropsWithRef<'button'> & { replay: Replay; atMs: number }) => (
  <UnstyledButton {...rest} className={styles.row} onClick={() => replay.jump(atMs)}>
    <time>{preciseClock(atMs - replay.startMs)}</time>
    {children}
  </UnstyledButton>
)

/** The space around what stands in the place of a list. */
const inList = { px: 14, py: 'xs' } as const

/** The actions of a viewer with an account on bookmarks. */
export interface BookmarkActions {
  readonly add: (atMs: number, label: string) => Promise<unknown>
  readonly remove: (id: string) => Promise<unknown>
  readonly mayRemove: (mark: Mark) => boolean
}

interface MarksPanelProps {
  readonly replay: Replay
  readonly tracks: Tracks
  /** Undefined for a viewer with a link. */
  readonly actions: BookmarkActions | undefined
  /** The field of the label, which a key focuses. */
  readonly field: RefObject<HTMLInputElement | null>
}

export function MarksPanel({ replay, tracks, actions, field }: MarksPanelProps) {
  const [error, setError] = useState<unknown>()
  const attempt = (change: Promise<unknown>) => change.then(() => setError(undefined), setError)
  return (
    <Box py="sm">
      <Text component="h2" size="xs" fw={600} c="dimmed" px={14}>
        {t('replay.marks.bookmarks')}
      </Text>
      {actions && (
        <NewBookmark
          field={field}
          onAdd={(label) => attempt(actions.add(replay.clock.position.get(), label))}
        />
      )}
      <Problem error={error} />
      {tracks.marks.length === 0 && <Note {...inList}>{t('replay.marks.noBookmarks')}</Note>}
      {tracks.marks.map((mark) => (
        <Group key={mark.bookmark.id} gap={0} pr="xs" wrap="nowrap">
          <Row replay={replay} atMs={mark.atMs}>
            <span>{mark.bookmark.label}</span>
          </Row>
          {actions?.mayRemove(mark) && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={t('replay.marks.remove', { label: mark.bookmark.label })}
              onClick={() => void attempt(actions.remove(mark.bookmark.id))}
            >
              <IconTrash size={14} />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Text component="h2" size="xs" fw={600} c="dimmed" px={14} mt="sm">
        {t('replay.marks.episodes')}
      </Text>
      {tracks.episodes.length === 0 && <Note {...inList}>{t('replay.marks.noEpisodes')}</Note>}
      {tracks.episodes.map(({ fromMs, toMs, episode }) => (
        <Row key={episode.id} replay={replay} atMs={fromMs}>
          <span>
            {episodeName(episode)}
            <Text span size="xs" c="dimmed">
              {` · ${episodeResult(episode)} · ${preciseClock(toMs - fromMs, 0)}`}
            </Text>
          </span>
        </Row>
      ))}
    </Box>
  )
}

function NewBookmark({ field, onAdd }: { field: MarksPanelProps['field']; onAdd: (label: string) => void }) {
  const [label, setLabel] = useState('')
  const submit = () => {
    onAdd(label.trim() || t('replay.marks.unnamed'))
    setLabel('')
    field.current?.blur()
  }
  return (
    <Form onSubmit={submit}>
      <Group gap={4} px={14} wrap="nowrap">
        <TextInput
          ref={field}
          size="xs"
          flex={1}
          maxLength={200}
          aria-label={t('replay.marks.label')}
          placeholder={t('replay.marks.label')}
          value={label}
          onChange={({ currentTarget: { value } }) => setLabel(value)}
        />
        <Button type="submit" size="xs" variant="default">
          {t('common.add')}
        </Button>
      </Group>
    </Form>
  )
}

/** Shows the whole path of the robot from above: up to the position, and faintly after it. */
export function PathMap({ replay, schema }: MapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const place = useRef<HTMLSpanElement>(null)
  const path = useRef<{ source: Float64Array; path: ReturnType<typeof pathOf> }>(undefined)
  const reader = useMemo(() => createSampleReader(schema), [schema])
  usePositionEffect(replay, (atMs) => {
    const poses = replay.overview.get().overview?.poses
    if (!canvas.current || !poses) return
    if (path.current?.source !== poses) path.current = { source: poses, path: pathOf(poses) }
    const sample = replay.moments.at(recordingTopics.telemetry, atMs)
    const pose = drawPath(canvas.current, path.current.path, atMs, sample && reader.pose(sample.value.data))
    if (place.current) place.current.textContent = pose ? formatPose(pose) : ''
  })
  return (
    <div className={styles.map}>
      <canvas ref={canvas} role="img" aria-label={t('replay.map.empty')} data-testid="path" />
      <span ref={place} aria-hidden />
    </div>
  )
}

function pathOf(values: Float64Array) {
  const poses: (Pose & { atMs: number })[] = []
  for (let at = 0; at < values.length; at += 4) {
    const [atMs = Number.NaN, xM = 0, yM = 0, headingRad = 0] = values.subarray(at, at + 4)
    if (!Number.isNaN(atMs)) poses.push({ atMs, xM, yM, headingRad })
  }
  const [xs, ys] = [poses.map(({ xM }) => xM), poses.map(({ yM }) => yM)]
  return {
    poses,
    low: { xM: Math.min(...xs), yM: Math.min(...ys) },
    high: { xM: Math.max(...xs), yM: Math.max(...ys) },
  }
}

function drawPath(
  canvas: HTMLCanvasElement,
  { poses, low, high }: ReturnType<typeof pathOf>,
  atMs: number,
  exact: Pose | undefined,
): Pose | undefined {
  if (poses.length === 0) return undefined
  const next = poses.findIndex((pose) => pose.atMs > atMs)
  const split = next < 0 ? poses.length : next
  const pose = exact ?? poses[split - 1]
  drawTrail(
    canvas,
    { trail: poses.slice(0, split), ahead: poses.slice(Math.max(0, split - 1)), pose, low, high },
    null,
  )
  const label = pose ? t('replay.map.position', { pose: formatPose(pose) }) : t('replay.map.empty')
  if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label)
  return pose
}
