import { UnstyledButton } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { decimals } from '../../base/format.ts'
import { useStore } from '../../base/store.ts'
import { gapText } from '../../texts/code-texts.ts'
import { t } from '../../texts/texts.ts'
import type { CameraPlayer, CameraProblem } from '../player/camera-player.ts'
import type { Replay, ReplayCamera } from '../player/replay.ts'
import styles from './replay.module.css'
import { preciseClock, usePositionEffect, wallClock } from './replay-time.ts'
import { type GapSpan, spanAt } from './tracks.ts'

/** A picture that is older than this is marked: nothing newer was recorded. */
const OLD_MS = 2_000
/** A camera that is this much behind the position says so. */
const LATE_MS = 300

interface Props {
  readonly replay: Replay
  readonly cameras: readonly ReplayCamera[]
  readonly main: ReplayCamera
  readonly gaps: readonly GapSpan[]
  readonly onSelect: (camera: ReplayCamera) => void
  readonly children: ReactNode
}

export function Cameras({ replay, cameras, main, gaps, onSelect, children }: Props) {
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

function Picture(props: Pick<Props, 'replay' | 'gaps' | 'children'> & { camera: ReplayCamera }) {
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
