import { ActionIcon, Button, NativeSelect, Text, Tooltip } from '@mantine/core'
import { type FC, type ReactNode, useEffect, useRef } from 'react'
import { decimals } from '../../base/format.ts'
import { IconKeyboard, IconPause, IconPlay } from '../../base/icons.tsx'
import { useStore } from '../../base/store.ts'
import { fitCanvas } from '../../telemetry/trail-map.ts'
import { t } from '../../texts/texts.ts'
import { RATES } from '../player/clock.ts'
import type { Replay } from '../player/replay.ts'
import styles from './replay.module.css'
import {
  IconBookmark,
  IconFit,
  IconNextStop,
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
  readonly isGrowing: boolean
  /** Jumps to the next or the previous stop; undefined for a recording without one. */
  readonly onStop: ((direction: 1 | -1) => void) | undefined
  /** Marks the present moment; undefined for a viewer who cannot. */
  readonly onBookmark: (() => void) | undefined
  readonly onKeys: () => void
  /** The states that the tracks show, for the legend. */
  readonly kinds: readonly SpanKind[]
  readonly children: ReactNode
}

/** Renders a button with its name and its key as a tip. @param props.isExtra whether a phone does without it */
const Tool = (props: {
  label: string
  hint: string
  icon: FC<{ size?: number }>
  isMain?: boolean
  isExtra?: boolean
  onClick: () => void
}) => (
  <Tooltip label={t('replay.tools.hint', { action: props.label, key: props.hint })} openDelay={400}>
    <ActionIcon
      {...(props.isMain ? { size: 46, radius: 'xl' } : { variant: 'subtle', color: 'gray', size: 38 })}
      data-extra={props.isExtra}
      aria-label={props.label}
      onClick={props.onClick}
    >
      <props.icon size={props.isMain ? 22 : 18} />
    </ActionIcon>
  </Tooltip>
)

export function Transport({ replay, isGrowing, onStop, onBookmark, onKeys, kinds, children }: Props) {
  const { clock, view } = replay
  const isPlaying = useStore(clock.isPlaying)
  const isFollowing = useStore(clock.isFollowing)
  const rate = useStore(clock.rate)
  const zoom = (factor: number) => () => view.zoom(factor, clock.position.get())
  return (
    <div className={styles.transport} role="toolbar" aria-label={t('replay.tools.label')}>
      <Tool
        label={t('replay.tools.back')}
        hint=","
        icon={IconStepBack}
        onClick={() => void replay.step(-1)}
      />
      <Tool
        label={isPlaying ? t('replay.tools.pause') : t('replay.tools.play')}
        hint={t('replay.keys.space')}
        icon={isPlaying ? IconPause : IconPlay}
        isMain
        onClick={isPlaying ? clock.pause : clock.play}
      />
      <Tool
        label={t('replay.tools.forward')}
        hint="."
        icon={IconStepForward}
        onClick={() => void replay.step(1)}
      />
      <Position replay={replay} />
      <NativeSelect
        w={84}
        flex="none"
        aria-label={t('replay.tools.speed')}
        value={String(rate)}
        data={RATES.map((value) => ({ value: String(value), label: rateText(value) }))}
        onChange={({ currentTarget: { value } }) => clock.rate.set(Number(value))}
      />
      {isGrowing && (
        <Button
          size="xs"
          variant={isFollowing ? 'filled' : 'default'}
          aria-pressed={isFollowing}
          onClick={clock.followEnd}
        >
          {t('replay.tools.live')}
        </Button>
      )}
      <ul className={styles.legend} aria-label={t('replay.tracks.legend')}>
        {kinds.map((kind) => (
          <li key={kind}>
            <Swatch kind={kind} />
            {spanTexts[kind]}
          </li>
        ))}
      </ul>
      <span className={styles.space} />
      {onStop && (
        <>
          <Tool
            label={t('replay.tools.previousStop')}
            hint="P"
            icon={IconPreviousStop}
            onClick={() => onStop(-1)}
          />
          <Tool label={t('replay.tools.nextStop')} hint="N" icon={IconNextStop} onClick={() => onStop(1)} />
        </>
      )}
      {onBookmark && (
        <Tool label={t('replay.header.bookmark')} hint="B" icon={IconBookmark} onClick={onBookmark} />
      )}
      {children}
      <Tool label={t('replay.tools.zoomOut')} hint="−" icon={IconZoomOut} isExtra onClick={zoom(ZOOM_STEP)} />
      <Tool label={t('replay.tools.zoomIn')} hint="+" icon={IconZoomIn} onClick={zoom(1 / ZOOM_STEP)} />
      <Tool label={t('replay.tools.fit')} hint="0" icon={IconFit} isExtra onClick={view.fit} />
      <Tool label={t('replay.tools.keys')} hint="?" icon={IconKeyboard} isExtra onClick={onKeys} />
    </div>
  )
}

const rateText = (rate: number): string =>
  t('replay.tools.rate', { rate: Number.isInteger(rate) ? rate : decimals(rate, rate < 0.5 ? 2 : 1) })

/** Shows the position and the length. It writes its texts itself, on each frame. */
function Position({ replay }: { replay: Replay }) {
  const position = useRef<HTMLParagraphElement>(null)
  const { toMs } = useStore(replay.clock.limits)
  usePositionEffect(replay, (atMs) => {
    if (position.current) position.current.textContent = preciseClock(atMs - replay.startMs)
  })
  return (
    <Text span c="dimmed" pl={{ base: 4, sm: 'xs' }} style={{ whiteSpace: 'nowrap' }}>
      <Text
        span
        ref={position}
        fz={{ base: '1.25rem', sm: '1.375rem' }}
        fw={650}
        lts="-0.02em"
        c="var(--mantine-color-text)"
        data-testid="position"
      />{' '}
      {t('replay.position.end', { end: preciseClock(toMs - replay.startMs) })}
    </Text>
  )
}

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
