import { useEffect, useState } from 'react'
import { t } from '../texts/texts.ts'
import type { Cameras, WatchedCamera } from '../video/use-cameras.ts'
import { VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import styles from './camera-strip.module.css'

/** Small pictures at a time. Each one is a whole stream. */
const MAX_SMALL = 3

interface Props {
  readonly cameras: Cameras
  /** Receives the viewers of the small pictures when they change. Stable between renders. */
  readonly onWatches?: ((cameras: readonly WatchedCamera[]) => void) | undefined
}

/** Shows the cameras that are not the large picture. A click makes one the large picture. */
export function CameraStrip({ cameras, onWatches }: Props) {
  const { others, choose } = cameras
  const [watches, setWatches] = useState<readonly WatchedCamera[]>([])
  useEffect(() => onWatches?.(watches), [watches, onWatches])
  if (others.length === 0) return null
  return (
    <ul className={styles.strip} aria-label={t('cameras.label')}>
      {others.map(({ name, label, source }, index) => (
        <li key={name}>
          {index < MAX_SMALL && (
            <SmallPicture name={name} label={label} source={source} onChange={setWatches} />
          )}
          <button type="button" className={styles.choose} onClick={() => choose(name)}>
            {t('cameras.show', { camera: label })}
          </button>
        </li>
      ))}
    </ul>
  )
}

type ChangeWatches = (change: (before: readonly WatchedCamera[]) => readonly WatchedCamera[]) => void

/** Shows one camera, and adds its viewer to a list while it is open. */
function SmallPicture(props: {
  name: string
  label: string
  source: Cameras['others'][number]['source']
  onChange: ChangeWatches
}) {
  const { name, label, source, onChange } = props
  const [watch, setWatch] = useState<VideoWatch>()
  useEffect(() => {
    if (!watch) return
    const camera = { name, label, watch }
    onChange((before) => [...before, camera])
    return () => onChange((before) => before.filter((other) => other !== camera))
  }, [watch, name, label, onChange])
  return (
    <div className={styles.small}>
      <VideoView source={source} title={label} layout="fill" onWatch={setWatch} />
    </div>
  )
}
