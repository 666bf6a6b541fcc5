import { ActionIcon, Button, NativeSelect, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useCallback, useEffect, useRef } from 'react'
import { decimals } from '../../base/format.ts'
import { useStore } from '../../base/store.ts'
import { fitCanvas } from '../../telemetry/trail-map.ts'
import { t } from '../../texts/texts.ts'
import { RATES } from '../player/clock.ts'
import type { Replay } from '../player/replay.ts'
import styles from './replay.module.css'
import {
  IconBookmark,
  IconFit,
  IconKeyboard,
  IconNextStop,
  IconPause,
  IconPlay,
  IconPreviousStop,
  IconStepBack,
  IconStepForward,
  IconZoomIn,
  IconZoomOut,
} from './replay-icons.tsx'
import { preciseClock, usePositionEffect } from './replay-time.ts'
import { colorsOf, drawSwatch } from './track-drawing.ts'
import { type SpanKind, spanTexts } from './tracks.ts'

const ZOOM_STEP = 2

interface Props {
  readonly replay: Replay
  readonly startMs: number
  /** Whether the session is still recorded. */
  readonly isGrowing: boolean
  /** Jumps to the next or the previous stop; undefined for a recording without one. */
  readonly onStop: ((direction: 1 | -1) => void) | undefined
  /** Marks the present moment; undefined for a viewer who cannot. */
  readonly onBookmark: (() => void) | undefined
  /** Opens the list of keys. */
  readonly onKeys: () => void
  /** The states that the tracks show, for the legend. */
  readonly kinds: readonly SpanKind[]
  /** Further controls at the end. */
  readonly children?: ReactNode
}

/** Renders a button with its name and its key as a tip. */
const Tool = (props: {
  label: string
  hint: string
  /** Whether a phone does without it. */
  isExtra?: boolean
  onClick: () => void
  children: ReactNode
}) => (
  <Tooltip label={t('replay.tools.hint', { action: props.label, key: props.hint })} openDelay={400}>
    <ActionIcon
      variant="subtle"
      color="gray"
      size={38}
      data-extra={props.isExtra}
      aria-label={props.label}
      onClick={props.onClick}
    >
      {props.children}
    </ActionIcon>
  </Tooltip>
)

/** Lists the controls of playing and of the time axis. */
export function Transport({
  replay,
  startMs,
  isGrowing,
  onStop,
  onBookmark,
  onKeys,
  kinds,
  children,
}: Props) {
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
          size={46}
          radius="xl"
          aria-label={isPlaying ? t('replay.tools.pause') : t('replay.tools.play')}
          onClick={toggle}
        >
          {isPlaying ? <IconPause size={22} /> : <IconPlay size={22} />}
        </ActionIcon>
      </Tooltip>
      <Tool label={t('replay.tools.forward')} hint="." onClick={() => void replay.step(1)}>
        <IconStepForward size={18} />
      </Tool>
      <Position replay={replay} startMs={startMs} />
      <NativeSelect
        w={84}
        flex="none"
        aria-label={t('replay.tools.speed')}
        value={String(rate)}
        data={RATES.map((value) => ({ value: String(value), label: rateText(value) }))}
        onChange={({ currentTarget: { value } }) => clock.rate.set(Number(value))}
      />
      {isGrowing && <LiveButton replay={replay} />}
      <Legend kinds={kinds} />
      <span className={styles.space} />
      {onStop && (
        <>
          <Tool label={t('replay.tools.previousStop')} hint="P" onClick={() => onStop(-1)}>
            <IconPreviousStop size={18} />
          </Tool>
          <Tool label={t('replay.tools.nextStop')} hint="N" onClick={() => onStop(1)}>
            <IconNextStop size={18} />
          </Tool>
        </>
      )}
      {onBookmark && (
        <Tool label={t('replay.header.bookmark')} hint="B" onClick={onBookmark}>
          <IconBookmark size={18} />
        </Tool>
      )}
      {children}
      <Tool
        label={t('replay.tools.zoomOut')}
        hint="−"
        isExtra
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
      <Tool label={t('replay.tools.fit')} hint="0" isExtra onClick={view.fit}>
        <IconFit size={18} />
      </Tool>
      <Tool label={t('replay.tools.keys')} hint="?" isExtra onClick={onKeys}>
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
      variant={isFollowing ? 'filled' : 'default'}
      aria-pressed={isFollowing}
      onClick={replay.clock.followEnd}
    >
      {t('replay.tools.live')}
    </Button>
  )
}

/** Shows the position and the length. It writes its texts itself, on each frame. */
function Position({ replay, startMs }: { replay: Replay; startMs: number }) {
  const position = useRef<HTMLElement>(null)
  const { toMs } = useStore(replay.clock.limits)
  const write = useCallback(
    (atMs: number) => {
      if (position.current) position.current.textContent = preciseClock(atMs - startMs)
    },
    [startMs],
  )
  usePositionEffect(replay, write)
  return (
    <span className={styles.position}>
      <b ref={position} data-testid="position" />{' '}
      {t('replay.position.end', { end: preciseClock(toMs - startMs) })}
    </span>
  )
}

/** Names the colours and patterns of the tracks. */
const Legend = ({ kinds }: Pick<Props, 'kinds'>) => (
  <ul className={styles.legend} aria-label={t('replay.tracks.legend')}>
    {kinds.map((kind) => (
      <li key={kind}>
        <Swatch kind={kind} />
        {spanTexts[kind]}
      </li>
    ))}
  </ul>
)

function Swatch({ kind }: { kind: SpanKind }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const area = canvas.current && fitCanvas(canvas.current)
    if (!canvas.current || !area) return
    const { context, width, height } = area
    drawSwatch(context, { x: 0, y: 0, width, height }, kind, colorsOf(canvas.current))
  }, [kind])
  return <canvas ref={canvas} aria-hidden />
}
