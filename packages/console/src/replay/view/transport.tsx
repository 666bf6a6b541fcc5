import { ActionIcon, Button, NativeSelect, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useCallback, useRef } from 'react'
import { decimals } from '../../base/format.ts'
import { useStore } from '../../base/store.ts'
import { t } from '../../texts/texts.ts'
import { RATES } from '../player/clock.ts'
import type { Replay } from '../player/replay.ts'
import styles from './replay.module.css'
import {
  IconFit,
  IconKeyboard,
  IconPause,
  IconPlay,
  IconStepBack,
  IconStepForward,
  IconZoomIn,
  IconZoomOut,
} from './replay-icons.tsx'
import { preciseClock, usePositionEffect, wallClock } from './replay-time.ts'

const ZOOM_STEP = 2

interface Props {
  readonly replay: Replay
  readonly startMs: number
  /** Whether the session is still recorded. */
  readonly isGrowing: boolean
  /** Opens the list of keys. */
  readonly onKeys: () => void
  /** Further controls at the end. */
  readonly children?: ReactNode
}

/** Renders a button with its name and its key as a tip. */
const Tool = (props: { label: string; hint: string; onClick: () => void; children: ReactNode }) => (
  <Tooltip label={t('replay.tools.hint', { action: props.label, key: props.hint })} openDelay={400}>
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={props.label} onClick={props.onClick}>
      {props.children}
    </ActionIcon>
  </Tooltip>
)

/** Lists the controls of playing and of the time axis. */
export function Transport({ replay, startMs, isGrowing, onKeys, children }: Props) {
  const { clock, view } = replay
  const isPlaying = useStore(clock.isPlaying)
  const rate = useStore(clock.rate)
  const toggle = () => (isPlaying ? clock.pause() : clock.play())
  return (
    <div className={styles.transport} role="toolbar" aria-label={t('replay.tools.label')}>
      <Tool label={t('replay.tools.back')} hint="," onClick={() => void replay.step(-1)}>
        <IconStepBack size={18} />
      </Tool>
      <Tooltip
        label={t('replay.tools.hint', {
          action: isPlaying ? t('replay.tools.pause') : t('replay.tools.play'),
          key: t('replay.keys.space'),
        })}
        openDelay={400}
      >
        <ActionIcon
          variant="filled"
          size="lg"
          aria-label={isPlaying ? t('replay.tools.pause') : t('replay.tools.play')}
          onClick={toggle}
        >
          {isPlaying ? <IconPause size={20} /> : <IconPlay size={20} />}
        </ActionIcon>
      </Tooltip>
      <Tool label={t('replay.tools.forward')} hint="." onClick={() => void replay.step(1)}>
        <IconStepForward size={18} />
      </Tool>
      <Position replay={replay} startMs={startMs} />
      {isGrowing && <LiveButton replay={replay} />}
      <NativeSelect
        size="xs"
        w={86}
        aria-label={t('replay.tools.speed')}
        value={String(rate)}
        data={RATES.map((value) => ({ value: String(value), label: rateText(value) }))}
        onChange={({ currentTarget: { value } }) => clock.rate.set(Number(value))}
      />
      <span className={styles.space} />
      {children}
      <Tool
        label={t('replay.tools.zoomOut')}
        hint="−"
        onClick={() => view.zoom(ZOOM_STEP, clock.position.get())}
      >
        <IconZoomOut size={18} />
      </Tool>
      <Tool
        label={t('replay.tools.zoomIn')}
        hint="+"
        onClick={() => view.zoom(1 / ZOOM_STEP, clock.position.get())}
      >
        <IconZoomIn size={18} />
      </Tool>
      <Tool label={t('replay.tools.fit')} hint="0" onClick={view.fit}>
        <IconFit size={18} />
      </Tool>
      <Tool label={t('replay.tools.keys')} hint="?" onClick={onKeys}>
        <IconKeyboard size={18} />
      </Tool>
    </div>
  )
}

/** Returns a rate such as `0.25×`. */
const rateText = (rate: number): string =>
  t('replay.tools.rate', { rate: Number.isInteger(rate) ? rate : decimals(rate, rate < 0.5 ? 2 : 1) })

function LiveButton({ replay }: { replay: Replay }) {
  const isFollowing = useStore(replay.clock.isFollowing)
  return (
    <Button
      size="xs"
      color="red.9"
      variant={isFollowing ? 'filled' : 'default'}
      aria-pressed={isFollowing}
      onClick={replay.clock.followEnd}
    >
      {t('replay.tools.live')}
    </Button>
  )
}

/** Shows the position, the length, and the time of day. It writes its texts itself, on each frame. */
function Position({ replay, startMs }: { replay: Replay; startMs: number }) {
  const position = useRef<HTMLElement>(null)
  const day = useRef<HTMLElement>(null)
  const { toMs } = useStore(replay.clock.limits)
  const write = useCallback(
    (atMs: number) => {
      if (position.current) position.current.textContent = preciseClock(atMs - startMs)
      if (day.current) day.current.textContent = wallClock(atMs)
    },
    [startMs],
  )
  usePositionEffect(replay, write)
  return (
    <span className={styles.position}>
      <b ref={position} data-testid="position" /> / {preciseClock(toMs - startMs)}{' '}
      <span ref={day} className={styles.day} />
    </span>
  )
}
