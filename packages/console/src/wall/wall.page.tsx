import { ActionIcon, Box, Group, Kbd, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDocumentTitle, useElementSize, useWindowEvent } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { Fragment, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Mark } from '../base/brand.tsx'
import { useDarkPage } from '../base/dark-page.ts'
import { IconMaximize, IconSearch, IconVolume, IconVolumeOff } from '../base/icons.tsx'
import { isTyping, latinKey } from '../base/keys.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { createPersisted } from '../base/persisted.ts'
import { playTones } from '../base/sound.ts'
import { Empty, Problem, QueryView } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { useTicker } from '../base/time.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId } from '../platform/rest.ts'
import { useConnection } from '../platform/use-live.ts'
import { ConnectionBadge } from '../status/connection-badge.tsx'
import { type LiveRobot, RobotStateLabel, useLiveRobotList } from '../status/live-robots.tsx'
import { Shape } from '../status/shapes.tsx'
import { StalenessNote } from '../status/staleness-note.tsx'
import type { TrustState } from '../status/trust.ts'
import { type FleetStop, type StopTarget, useFleetStop } from '../stop/fleet-stop.ts'
import { StopAllButton, StopResults } from '../stop/stop-all.tsx'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import { LiveTile } from './live-tile.tsx'
import { createPictureSlots, TURN_MS } from './picture-slots.ts'
import {
  type Counts,
  GAP_PX,
  layoutOf,
  type Placed,
  placed,
  type SectionName,
  type Seen,
  type TileSize,
} from './sections.ts'
import { lineOf } from './tile-picture.tsx'
import styles from './wall.module.css'
import { type WallFilter, wallFilters } from './wall-search.ts'

const filterTexts: Record<WallFilter, string> = {
  all: t('live.wall.all'),
  needs: t('live.wall.needs'),
  driving: t('live.wall.driving'),
  idle: t('live.wall.idle'),
}

const isFilter = (name: string): name is WallFilter => name in wallFilters

interface Props {
  readonly counts: Counts
  /** The tags of all robots. */
  readonly tags: readonly string[]
  readonly find: string
  readonly onFind: (text: string) => void
  /** Opens the first robot that was found. */
  readonly onOpen: () => void
}

/** Shows what the wall can show: filters, tags, size and sound. */
export function WallHeader({ counts, tags, find, onFind, onOpen }: Props) {
  const search = useSearch({ from: '/full-window/live' })
  const navigate = useNavigate({ from: '/live' })
  const go = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...next }, replace: true })
  const count = (filter: WallFilter) =>
    wallFilters[filter].reduce((sum, section) => sum + counts[section], 0).toLocaleString(language)
  return (
    <header className={styles.header}>
      <Link to="/" aria-label={t('common.home')} style={{ padding: 5, lineHeight: 0 }}>
        <Mark />
      </Link>
      <h1>{t('live.page.title')}</h1>
      <ConnectionBadge />
      <SegmentedControl
        className={styles.filters ?? ''}
        aria-label={t('live.wall.filter')}
        value={search.show ?? 'all'}
        onChange={(show) => go({ show: isFilter(show) && show !== 'all' ? show : undefined })}
        data={Object.keys(wallFilters)
          .filter(isFilter)
          .map((value) => ({
            value,
            label: (
              <Group gap="0.45em" wrap="nowrap">
                {value === 'needs' && <Shape name="delayed" />}
                {filterTexts[value]} <b>{count(value)}</b>
              </Group>
            ),
          }))}
      />
      <Box flex={1} />
      {tags.length > 0 && (
        <Select
          className={styles.tags ?? ''}
          aria-label={t('live.wall.tag')}
          placeholder={t('live.wall.tag')}
          data={[...tags]}
          value={search.tag ?? null}
          onChange={(tag) => go({ tag: tag ?? undefined })}
          clearable
        />
      )}
      <TextInput
        type="search"
        className={styles.find ?? ''}
        aria-label={t('live.wall.find')}
        placeholder={t('live.wall.find')}
        leftSection={<IconSearch size={16} />}
        rightSection={find === '' && <Kbd>/</Kbd>}
        value={find}
        onChange={({ currentTarget: { value } }) => onFind(value)}
        onKeyDown={({ key }) => key === 'Enter' && find !== '' && onOpen()}
      />
      <SegmentedControl
        className={styles.wide ?? ''}
        aria-label={t('live.wall.size')}
        value={useStore(tileSize)}
        onChange={tileSize.set}
        data={['S', 'M', 'L'] as const}
      />
      <SoundSwitch />
      <ActionIcon
        variant="default"
        size={36}
        className={styles.wide ?? ''}
        aria-label={t('live.wall.fullScreen')}
        title={t('live.wall.fullScreen')}
        onClick={() =>
          void (document.fullscreenElement
            ? document.exitFullscreen()
            : document.documentElement.requestFullscreen())
        }
      >
        <IconMaximize size={18} />
      </ActionIcon>
    </header>
  )
}

function SoundSwitch() {
  const isOn = useStore(soundOn)
  const label = t(isOn ? 'live.wall.soundOn' : 'live.wall.soundOff')
  return (
    <ActionIcon
      variant="default"
      size={36}
      aria-label={t('live.wall.sound')}
      aria-pressed={isOn}
      title={label}
      onClick={() => soundOn.set(!isOn)}
    >
      {isOn ? <IconVolume size={18} /> : <IconVolumeOff size={18} />}
    </ActionIcon>
  )
}

/** Names the keys of the wall, on windows with space for it. */
export const KeyHints = () => (
  <Group gap={18} wrap="nowrap" ml="auto" className={styles.wide} aria-hidden="true">
    <span>
      <Kbd>1</Kbd>–<Kbd>9</Kbd> {t('live.wall.keyNumber')}
    </span>
    <span>
      <Kbd>↵</Kbd> {t('live.wall.keyEnter')}
    </span>
    <span>
      <Kbd>{t('live.wall.keyT')}</Kbd> {t('live.wall.keyControl')}
    </span>
    <span>
      <Kbd>{t('live.wall.keyS')}</Kbd> {t('live.wall.keyStop')}
    </span>
  </Group>
)

/** The size of the tiles in this browser. `M`: as large as possible. */
export const tileSize = createPersisted<TileSize>('wheelhouse-wall-size', 'M', (text) =>
  text === 'S' || text === 'L' ? text : 'M',
)

/** Whether the wall makes sounds. The browser allows them after the first gesture of the user only. */
const soundOn = createPersisted('wheelhouse-wall-sound', true, (text) => text === 'true')

/** A stop rises, a loss falls. */
const TONES: Readonly<Record<'stopped' | 'lost', readonly (readonly [hz: number, ms: number])[]>> = {
  stopped: [660, 880].map((hz) => [hz, 180]),
  lost: [440, 294].map((hz) => [hz, 180]),
}

/** Sounds when a robot is newly stopped, or newly lost or blind. @param ids of those robots now; undefined until known */
export function useSounds(ids: Readonly<Record<keyof typeof TONES, readonly string[]>> | undefined): void {
  const isOn = useStore(soundOn)
  const known = useRef<typeof ids>(undefined)
  useEffect(() => {
    const before = known.current
    known.current = ids
    if (!before || !ids || !isOn) return
    const isNew = (sound: keyof typeof TONES) => ids[sound].some((id) => !before[sound].includes(id))
    if (isNew('stopped')) playTones(TONES.stopped)
    else if (isNew('lost')) playTones(TONES.lost)
  }, [ids, isOn])
}

const NONE: readonly LiveRobot[] = []

/** Shows all live robots of the owner, those that need the owner first, each with a stop, and a stop for all of them. */
export function WallPage() {
  useDarkPage()
  useDocumentTitle(`${t('live.page.title')} · Wheelhouse`)
  const query = useLiveRobotList()
  const robots = query.data?.robots ?? NONE
  const page = useRef<HTMLDivElement>(null)
  const control = useChangeControl(robots)
  useWallKeys(page, control.mutate)
  const [seen, onSeen] = useSeen()
  useSounds(useMemo(() => query.data && alarmsOf(query.data.robots, seen), [query.data, seen]))
  const places = usePlaces(page, robots, seen)
  const [find, setFind] = useState('')
  const { show = 'all', tag } = useSearch({ from: '/full-window/live' })
  const sections: readonly SectionName[] = wallFilters[show]
  const isShown = ({ robot: { name, tags }, section }: Placed) =>
    sections.includes(section) &&
    (tag === undefined || tags.includes(tag)) &&
    name.toLowerCase().includes(find.trim().toLowerCase())
  const fleetStop = useFleetStop()
  const targets = stopTargets(robots)
  return (
    <Stack ref={page} gap={0} pos="fixed" inset={0} bg="var(--mantine-color-body)">
      <WallHeader
        counts={countsOf(places)}
        tags={[...new Set(robots.flatMap(({ tags }) => tags))].sort()}
        find={find}
        onFind={setFind}
        onOpen={() => page.current?.querySelector<HTMLElement>('[data-robot] a')?.click()}
      />
      <div className={styles.middle}>
        {query.data && <StalenessNote asOfMs={query.dataUpdatedAt} />}
        <QueryView
          query={query}
          isEmpty={({ total }) => total === 0}
          empty={
            <Empty
              title={t('live.page.emptyTitle')}
              action={<LinkButton to="/robots">{t('live.page.allRobots')}</LinkButton>}
            >
              {t('live.page.emptyText')}
            </Empty>
          }
        >
          {({ total }) => (
            <>
              {total > robots.length && (
                <Text size="sm">{t('live.page.notAll', { shown: robots.length, total })}</Text>
              )}
              <Tiles places={places.filter(isShown)} fleetStop={fleetStop} onSeen={onSeen} />
            </>
          )}
        </QueryView>
      </div>
      <div className={styles.results}>
        <StopResults fleetStop={fleetStop} />
        {control.error && <Problem error={control.error} />}
      </div>
      <footer className={styles.bar}>
        <StopAllButton targets={targets} fleetStop={fleetStop} className={styles.stopAll} />
        <span className={styles.reach}>{t('live.wall.reach', { count: targets.length })}</span>
        <KeyHints />
      </footer>
    </Stack>
  )
}

const sectionTexts: Record<SectionName, string> = {
  needs: t('live.wall.needs'),
  driving: t('live.wall.driving'),
  ready: t('live.wall.ready'),
  rows: t('live.wall.withoutPicture'),
}

interface TilesProps {
  readonly places: readonly Placed[]
  readonly fleetStop: FleetStop
  readonly onSeen: (robotId: string, state: TrustState) => void
}

/** Lists the robots in their sections. All are in one list, so that a tile which changes its section keeps its picture. */
function Tiles({ places, fleetStop, onSeen }: TilesProps) {
  const { ref, width, height } = useElementSize<HTMLDivElement>()
  const [slots] = useState(createPictureSlots)
  useEffect(() => {
    const timer = setInterval(slots.turn, TURN_MS)
    return () => clearInterval(timer)
  }, [slots])
  const counts = countsOf(places)
  const layout = layoutOf(counts, useStore(tileSize), { widthPx: width, heightPx: height })
  const fills = layout.tilePx !== undefined
  return (
    <div ref={ref} className={styles.scroll}>
      <section className={styles.tiles} aria-label={t('live.page.label')} data-fills={fills}>
        {places.length === 0 && width > 0 && <Empty title={t('live.wall.noMatch')} />}
        {places.map(({ robot, section }, index) => (
          <Fragment key={robot.id}>
            {section !== places[index - 1]?.section && !fills && (
              <h2>
                {sectionTexts[section]} <b>{counts[section].toLocaleString(language)}</b>
              </h2>
            )}
            <div style={{ width: widthOf(layout.columns[section]), height: layout.tilePx }}>
              {section === 'rows' ? (
                <Row robot={robot} />
              ) : (
                <LiveTile
                  robot={robot}
                  section={section}
                  number={robot.session && index < 9 ? index + 1 : undefined}
                  slots={slots}
                  fleetStop={fleetStop}
                  onSeen={onSeen}
                />
              )}
            </div>
          </Fragment>
        ))}
      </section>
    </div>
  )
}

const widthOf = (columns: number) => `calc((100% - ${(columns - 1) * GAP_PX}px) / ${columns})`

/** Shows an idle robot without a picture in one line. */
function Row({ robot }: { robot: LiveRobot }) {
  const isUnknown = useConnection() !== 'live'
  return (
    <Group
      component="article"
      gap={10}
      h={34}
      px="sm"
      wrap="nowrap"
      bdrs="md"
      bg="var(--surface-1)"
      aria-label={robot.name}
      data-testid="live-tile"
      data-robot={robot.id}
    >
      <RobotStateLabel state={robot.state} isUnknown={isUnknown} />
      <LinkAnchor to="/robots/$robotId" params={{ robotId: robot.id }} truncate c="var(--mantine-color-text)">
        {robot.name}
      </LinkAnchor>
      <Text flex={1} ta="end" c="dimmed" truncate>
        {robot.on_hold && lineOf(robot)}
      </Text>
      {robot.battery !== null && <span data-testid="battery">{percent(robot.battery)}</span>}
    </Group>
  )
}

/** Returns what the tiles have seen of their pictures for a while, and the function that notes it. */
function useSeen(): [Seen, TilesProps['onSeen']] {
  const [seen, setSeen] = useState<Seen>(new Map())
  const onSeen = useCallback((id: string, state: TrustState) => {
    setSeen((old) =>
      old.get(id)?.state === state ? old : new Map(old).set(id, { state, sinceMs: Date.now() }),
    )
  }, [])
  return [seen, onSeen]
}

const ATTENTION_CHECK_MS = 1_000

/** A pointer that rests for longer points at nothing: a wall runs for days. */
const RESTING_MS = 10_000

/** Returns the robots in their places. Nothing moves while somebody points at a robot, or has the focus on one by key. */
function usePlaces(page: RefObject<HTMLElement | null>, robots: readonly LiveRobot[], seen: Seen) {
  const movedMs = useRef(Number.NEGATIVE_INFINITY)
  const note = () => {
    movedMs.current = performance.now()
  }
  useWindowEvent('pointermove', note)
  useWindowEvent('pointerdown', note)
  useTicker(ATTENTION_CHECK_MS)
  const has = (selector: string) => page.current?.querySelector(selector) != null
  const isAttended =
    has('[data-held=true], [data-robot] :focus-visible') ||
    (has('[data-robot]:hover') && performance.now() - movedMs.current < RESTING_MS)
  const last = useRef<readonly Placed[]>([])
  const places = placed(robots, seen, isAttended ? last.current : undefined)
  useEffect(() => {
    last.current = places
  })
  return places
}

const countsOf = (places: readonly Placed[]): Counts => {
  const counts = { needs: 0, driving: 0, ready: 0, rows: 0 }
  for (const { section } of places) counts[section] += 1
  return counts
}

const alarmsOf = (robots: readonly LiveRobot[], seen: Seen) => {
  const idsOf = (is: (robot: LiveRobot) => boolean) => robots.filter(is).map(({ id }) => id)
  return {
    stopped: idsOf(({ state }) => state === 'STOPPED'),
    lost: idsOf(
      ({ id, state, session }) => state === 'LOST' || (!!session && seen.get(id)?.state === 'BLIND'),
    ),
  }
}

const stopTargets = (robots: readonly LiveRobot[]): StopTarget[] =>
  robots.flatMap(({ name, session }) => (session ? [{ sessionId: session.id, robotName: name }] : []))

/** Takes control of the robot of a session and opens its cockpit; or returns control that the user has taken. */
function useChangeControl(robots: readonly LiveRobot[]) {
  const { rest } = usePlatform()
  const { id: meId } = useMe()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (sessionId: string) => {
      const holder = robots.find(({ session }) => session?.id === sessionId)?.session?.holder
      const action = holder?.user_id === meId ? 'return' : 'take_over'
      await answerOf(rest.POST('/api/sessions/{id}/control', { ...byId(sessionId), body: { action } }))
      if (action === 'take_over') await navigate({ to: '/drive/$sessionId', params: { sessionId } })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keys.robots }),
  })
}

/**
 * Runs the keys of the wall while the component is mounted: 1 to 9 do what the numbered tile offers, holding S stops the robot
 * whose tile is focused or pointed at, T takes or returns control of it, and / begins to find a robot. Enter opens a focused tile, because that is a link.
 */
function useWallKeys(wall: RefObject<HTMLElement | null>, changeControl: (sessionId: string) => void): void {
  // A pointer rests somewhere while keys move the focus: what moved last chooses the robot.
  const states = useRef([':focus-within', ':hover'])
  useWindowEvent('pointermove', () => {
    states.current = [':hover', ':focus-within']
  })
  useWindowEvent('focusin', ({ target }) => {
    if (target instanceof Element && target.matches(':focus-visible'))
      states.current = [':focus-within', ':hover']
  })
  const inChosen = (tile: string, part = '') => {
    const found = states.current.map((state) =>
      wall.current?.querySelector<HTMLElement>(`${tile}${state} ${part}`),
    )
    return found.find((element) => element != null)
  }
  useWindowEvent('keydown', (event) => {
    const { current: page } = wall
    if (!page || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping() || document.querySelector('[role=dialog]') !== null) return
    const key = latinKey(event)
    if (key === 't') {
      const sessionId = inChosen('[data-session]')?.dataset.session
      if (sessionId === undefined) return
      event.preventDefault()
      return changeControl(sessionId)
    }
    const selector = key === '/' ? '[type=search]' : `[data-number="${/^[1-9]$/.test(key) ? key : ''}"]`
    const target =
      key === 's' ? inChosen('[data-robot]', '[data-testid=stop]') : page.querySelector<HTMLElement>(selector)
    if (!target) return
    event.preventDefault()
    target.focus()
    // The button holds itself, and ends with the key.
    if (key === 's') target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    else if (key !== '/') target.click()
  })
}
