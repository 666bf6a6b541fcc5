import { ActionIcon, Button, Group, NativeSelect, Text, Tooltip, UnstyledButton } from '@mantine/core'
import { type FC, type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { decimals } from '../../base/format.ts'
import { IconKeyboard, IconPause, IconPlay } from '../../base/icons.tsx'
import { useStore } from '../../base/store.ts'
import { fitCanvas } from '../../telemetry/trail-map.ts'
import { gapText } from '../../texts/code-texts.ts'
import { t } from '../../texts/texts.ts'
import type { CameraPlayer, CameraProblem } from '../player/camera-player.ts'
import { RATES, type Replay, type ReplayCamera } from '../player/replay.ts'
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
import { preciseClock, usePositionEffect, wallClock } from './replay-time.ts'
import { colorsOf, drawSwatch, type GapSpan, type SpanKind, spanAt, spanTexts } from './tracks.ts'

const ZOOM_STEP = 2

export interface TransportProps {
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

/** Renders a button with its name and its key as a tip. @param look a phone does without those that are `extra` */
const tool = (
  label: string,
  hint: string,
  Icon: FC<{ size?: number }>,
  onClick: () => void,
  look?: 'main' | 'extra',
) => (
  <Tooltip label={t('replay.tools.hint', { action: label, key: hint })} openDelay={400}>
    <ActionIcon
      {...(look === 'main' ? { size: 46, radius: 'xl' } : { variant: 'subtle', color: 'gray', size: 38 })}
      data-extra={look === 'extra' || undefined}
      aria-label={label}
      onClick={onClick}
    >
      <Icon size={look === 'main' ? 22 : 18} />
    </ActionIcon>
  </Tooltip>
)

/** A click on a button leaves the focus where it is, so that Space still plays and pauses. */
function leaveFocus(event: MouseEvent): void {
  if (event.target instanceof Element && event.target.closest('button')) event.preventDefault()
}

export function Transport({
  replay,
  isGrowing,
  onStop,
  onBookmark,
  onKeys,
  kinds,
  children,
}: TransportProps) {
  const { clock, view } = replay
  const isPlaying = useStore(clock.isPlaying)
  const isFollowing = useStore(clock.isFollowing)
  const rate = useStore(clock.rate)
  const zoom = (factor: number) => () => view.zoom(factor, clock.position.get())
  return (
    <div
      className={styles.transport}
      role="toolbar"
      aria-label={t('replay.tools.label')}
      onMouseDown={leaveFocus}
    >
      {tool(t('replay.tools.back'), ',', IconStepBack, () => void replay.step(-1))}
      {isPlaying
        ? tool(t('replay.tools.pause'), t('replay.keys.space'), IconPause, clock.pause, 'main')
        : tool(t('replay.tools.play'), t('replay.keys.space'), IconPlay, clock.play, 'main')}
      {tool(t('replay.tools.forward'), '.', IconStepForward, () => void replay.step(1))}
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
          <Group component="li" key={kind} gap="0.35rem" wrap="nowrap" style={{ whiteSpace: 'nowrap' }}>
            <Swatch kind={kind} />
            {spanTexts[kind]}
          </Group>
        ))}
      </ul>
      <span className={styles.space} />
      {onStop && tool(t('replay.tools.previousStop'), 'P', IconPreviousStop, () => onStop(-1))}
      {onStop && tool(t('replay.tools.nextStop'), 'N', IconNextStop, () => onStop(1))}
      {onBookmark && tool(t('replay.header.bookmark'), 'B', IconBookmark, onBookmark)}
      {children}
      {tool(t('replay.tools.zoomOut'), '−', IconZoomOut, zoom(ZOOM_STEP), 'extra')}
      {tool(t('replay.tools.zoomIn'), '+', IconZoomIn, zoom(1 / ZOOM_STEP))}
      {tool(t('replay.tools.fit'), '0', IconFit, view.fit, 'extra')}
      {tool(t('replay.tools.keys'), '?', IconKeyboard, onKeys, 'extra')}
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
  return <canvas ref={canvas} aria-hidden style={{ width: 22, height: 12 }} />
}

/** A picture that is older than this is marked: nothing newer was recorded. */
const OLD_MS = 2_000
/** A camera that is this much behind the position says so. */
const LATE_MS = 300

interface CamerasProps {
  readonly replay: Replay
  readonly cameras: readonly ReplayCamera[]
  readonly main: ReplayCamera
  readonly gaps: readonly GapSpan[]
  readonly onSelect: (camera: ReplayCamera) => void
  readonly children: ReactNode
}

export function Cameras({ replay, cameras, main, gaps, onSelect, children }: CamerasProps) {
  const others = cameras.filter((camera) => camera !== main)
  return (
    <div className={styles.cameras}>
      <Picture replay={replay} camera={main} gaps={gaps}>
        {children}
      </Picture>
      {others.length > 0 && (
        <div className={styles.others}>
          {others.map((camera, place) => (
            <UnstyledButton
              // By place, so that the focus stays where the viewer exchanged two cameras.
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              key={place}
              onClick={() => onSelect(camera)}
            >
              <FrameCanvas player={camera.player} label="" />
              <CameraName replay={replay} camera={camera} />
            </UnstyledButton>
          ))}
        </div>
      )}
    </div>
  )
}

/** Names a camera, with the time of day of its picture, or how much older it is than the position. */
function CameraName(props: { replay: Replay; camera: ReplayCamera; isMain?: boolean }) {
  const { replay, camera, isMain = false } = props
  const time = useRef<HTMLSpanElement>(null)
  const write = (atMs: number) => {
    const ageMs = atMs - (camera.player.shown.get() ?? atMs)
    const isLate = ageMs > LATE_MS && camera.player.isReady()
    const age = isLate ? t('replay.picture.age', { seconds: decimals(ageMs / 1_000, 1) }) : ''
    writeText(time.current, isMain && age === '' ? wallClock(atMs) : age)
  }
  usePositionEffect(replay, write, camera.player.shown)
  return (
    <span className={styles.name} data-main={isMain}>
      {camera.name} <span ref={time} />
    </span>
  )
}

/** Changes the text of an element only if it is another one. */
function writeText(element: HTMLElement | null, text: string): void {
  if (element && element.textContent !== text) element.textContent = text
}

const problemTexts: Readonly<Record<CameraProblem, string>> = {
  unsupported: t('replay.picture.unsupported'),
  unreadable: t('replay.picture.unreadable'),
  undecodable: t('replay.picture.undecodable'),
}

function Picture(props: Pick<CamerasProps, 'replay' | 'gaps' | 'children'> & { camera: ReplayCamera }) {
  const { replay, camera, gaps, children } = props
  const problem = useStore(camera.player.problem)
  const isWaiting = useStore(replay.clock.isWaiting)
  const figure = useRef<HTMLElement>(null)
  const note = useRef<HTMLParagraphElement>(null)
  const describe = (atMs: number) => {
    const text = problem ? problemTexts[problem] : noteOf(camera.player, atMs, gaps)
    writeText(note.current, text)
    figure.current?.toggleAttribute('data-old', text !== '' && problem === undefined)
  }
  usePositionEffect(replay, describe, camera.player.shown)
  return (
    <figure className={styles.picture} ref={figure}>
      <FrameCanvas player={camera.player} label={t('replay.picture.label', { camera: camera.name })} />
      <p className={styles.note} ref={note} />
      <CameraName replay={replay} camera={camera} isMain />
      {children}
      {isWaiting && (
        <p className={styles.note} data-low>
          {t('replay.picture.loading')}
        </p>
      )}
    </figure>
  )
}

/** Returns why there is no present picture; empty if there is one. */
function noteOf(player: CameraPlayer, atMs: number, gaps: readonly GapSpan[]): string {
  const gap = spanAt(gaps, atMs, 0)
  const shownMs = player.shown.get()
  // A picture that is still being read is not missing.
  const isOld = (shownMs === undefined || atMs - shownMs > OLD_MS) && player.isReady()
  if (gap && isOld) return t('replay.picture.gap', { reason: gapText(gap.reason) })
  if (shownMs === undefined) return isOld ? t('replay.picture.none') : ''
  return isOld ? t('replay.picture.old', { length: preciseClock(atMs - shownMs) }) : ''
}

/** Renders a canvas that the player of a camera draws on. @param label empty for a copy of another picture */
function FrameCanvas({ player, label }: { player: CameraPlayer; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => (canvas.current ? player.attach(canvas.current) : undefined), [player])
  const named = label === '' ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label }
  return <canvas ref={canvas} className={styles.frame} width={16} height={9} {...named} />
}
