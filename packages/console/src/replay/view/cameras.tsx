import { UnstyledButton } from '@mantine/core'
import { useCallback, useEffect, useRef } from 'react'
import { useStore } from '../../base/store.ts'
import { gapText } from '../../texts/code-texts.ts'
import { t } from '../../texts/texts.ts'
import type { CameraPlayer, CameraProblem } from '../player/camera-player.ts'
import type { Replay, ReplayCamera } from '../player/replay.ts'
import styles from './cameras.module.css'
import { preciseClock, usePositionEffect } from './replay-time.ts'
import { type GapSpan, spanAt } from './tracks.ts'

/** A picture that is older than this is marked: nothing newer was recorded. */
const OLD_MS = 2_000

interface Props {
  readonly replay: Replay
  readonly cameras: readonly ReplayCamera[]
  readonly main: ReplayCamera
  readonly gaps: readonly GapSpan[]
  readonly onSelect: (camera: ReplayCamera) => void
}

/** Shows the main camera, and the others below it. */
export const Cameras = ({ replay, cameras, main, gaps, onSelect }: Props) => (
  <div className={styles.cameras}>
    <Picture key={main.name} replay={replay} camera={main} gaps={gaps} />
    {cameras.length > 1 && (
      <div className={styles.strip}>
        {cameras.map((camera, index) => (
          <UnstyledButton
            key={camera.name}
            className={styles.thumbnail}
            aria-pressed={camera === main}
            onClick={() => onSelect(camera)}
          >
            <FrameCanvas player={camera.player} label="" />
            <span className={styles.name}>
              {camera.name} <kbd>{index + 1}</kbd>
            </span>
          </UnstyledButton>
        ))}
      </div>
    )}
  </div>
)

const problemTexts: Readonly<Record<CameraProblem, string>> = {
  unsupported: t('replay.picture.unsupported'),
  unreadable: t('replay.picture.unreadable'),
  undecodable: t('replay.picture.undecodable'),
}

function Picture({
  replay,
  camera,
  gaps,
}: {
  replay: Replay
  camera: ReplayCamera
  gaps: readonly GapSpan[]
}) {
  const problem = useStore(camera.player.problem)
  const isWaiting = useStore(replay.clock.isWaiting)
  const figure = useRef<HTMLElement>(null)
  const note = useRef<HTMLParagraphElement>(null)
  const describe = useCallback(
    (atMs: number) => {
      const text = problem ? problemTexts[problem] : noteOf(camera.player, atMs, gaps)
      if (note.current && note.current.textContent !== text) note.current.textContent = text
      figure.current?.toggleAttribute('data-old', text !== '' && problem === undefined)
    },
    [camera, gaps, problem],
  )
  usePositionEffect(replay, describe)
  return (
    <figure className={styles.picture} ref={figure}>
      <FrameCanvas player={camera.player} label={t('replay.picture.label', { camera: camera.name })} />
      <p className={styles.note} ref={note} />
      {isWaiting && <p className={styles.waiting}>{t('replay.picture.loading')}</p>}
    </figure>
  )
}

/** Returns why there is no present picture; empty if there is one. */
function noteOf(player: CameraPlayer, atMs: number, gaps: readonly GapSpan[]): string {
  const gap = spanAt(gaps, atMs, 0)
  const { shownMs } = player
  const isOld = shownMs === undefined || atMs - shownMs > OLD_MS
  if (gap && isOld) return t('replay.picture.gap', { reason: gapText(gap.reason) })
  if (shownMs === undefined) return player.isReady() ? t('replay.picture.none') : ''
  return isOld ? t('replay.picture.old', { length: preciseClock(atMs - shownMs) }) : ''
}

/** Renders a canvas that the player of a camera draws on. @param label empty for a copy of another picture */
function FrameCanvas({ player, label }: { player: CameraPlayer; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => (canvas.current ? player.attach(canvas.current) : undefined), [player])
  return label === '' ? (
    <canvas ref={canvas} className={styles.canvas} width={16} height={9} aria-hidden />
  ) : (
    <canvas ref={canvas} className={styles.canvas} width={16} height={9} role="img" aria-label={label} />
  )
}
