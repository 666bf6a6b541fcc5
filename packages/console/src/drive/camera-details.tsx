import { useEffect, useState } from 'react'
import { decimals } from '../base/format.ts'
import { t } from '../texts/texts.ts'
import type { StreamFigures } from '../video/player.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import type { VideoWatch } from '../video/watch-video.ts'
import styles from './bar.module.css'
import { Detail } from './bar.tsx'

const CAMERA_REFRESH_MS = 1_000

/** Renders how the pictures of each camera arrive. Cameras without WebRTC have no figures. */
export const CameraDetails = ({ cameras }: { cameras: readonly WatchedCamera[] }) => (
  <dl className={styles.detailList}>
    {cameras.map(({ name, ...camera }) => (
      <OneCamera key={name} {...camera} />
    ))}
  </dl>
)

function OneCamera({ label, watch }: Omit<WatchedCamera, 'name'>) {
  const figures = useStreamFigures(watch)
  return figures && <Detail name={t('cameras.name', { camera: label })} value={figuresText(figures)} />
}

function useStreamFigures(watch: VideoWatch): StreamFigures | undefined {
  const [figures, setFigures] = useState<StreamFigures>()
  useEffect(() => {
    let isClosed = false
    const read = async () => {
      const newest = await watch.state.get().playing.readFigures?.()
      if (!isClosed) setFigures(newest)
    }
    const timer = setInterval(() => void read().catch(() => undefined), CAMERA_REFRESH_MS)
    return () => {
      isClosed = true
      clearInterval(timer)
    }
  }, [watch])
  return figures
}

const figuresText = ({ latencyMs, framesPerSecond, bitsPerSecond, lostShare, freezes }: StreamFigures) =>
  [
    ...(latencyMs === undefined ? [] : [t('drive.latency.milliseconds', { ms: Math.round(latencyMs) })]),
    t('cameras.frames', { frames: Math.round(framesPerSecond) }),
    t('cameras.bitrate', { megabits: decimals(bitsPerSecond / 1e6, 1) }),
    t('cameras.lost', { share: decimals(lostShare * 100, 1) }),
    t('cameras.freezes', { freezes }),
  ].join(' · ')
