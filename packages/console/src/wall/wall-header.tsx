import { ActionIcon, Box, Group, Kbd, SegmentedControl, Select, TextInput } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Mark } from '../base/brand.tsx'
import { IconMaximize, IconSearch, IconVolume, IconVolumeOff } from '../base/icons.tsx'
import { createPersisted } from '../base/persisted.ts'
import { playTones } from '../base/sound.ts'
import { useStore } from '../base/store.ts'
import { ConnectionBadge } from '../status/connection-badge.tsx'
import { Shape } from '../status/shapes.tsx'
import { language, t } from '../texts/texts.ts'
import type { Counts, TileSize } from './sections.ts'
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
      <Link to="/" aria-label={t('common.home')} className={styles.brand ?? ''}>
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
