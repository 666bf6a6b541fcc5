import { useEffect, useState } from 'react'
import { t } from '../texts/texts.ts'
import { decimals } from '../ui/format.ts'
import type { StreamFigures } from '../video/player.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import type { VideoWatch } from '../video/watch-video.ts'
import { Figure } from './latency.tsx'

const REFRESH_MS = 1_000

/** Renders how the pictures of each camera arrive. Cameras without WebRTC have no figures. */
export function CameraFigures({ cameras }: { cameras: readonly WatchedCamera[] }) {
  return cameras.map(({ name, ...camera }) => <OneCamera key={name} {...camera} />)
}

function OneCamera({ label, watch }: Omit<WatchedCamera, 'name'>) {
  const figures = useStreamFigures(watch)
  return figures && <Figure name={t('cameras.name', { camera: label })} value={figuresText(figures)} />
}

function useStreamFigures(watch: VideoWatch): StreamFigures | undefined {
  const [figures, setFigures] = useState<StreamFigures>()
  useEffect(() => {
    let isClosed = false
    const read = async () => {
      const newest = await watch.state.get().playing.readFigures?.()
      if (!isClosed) setFigures(newest)
    }
    const timer = setInterval(() => void read().catch(() => undefined), REFRESH_MS)
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
