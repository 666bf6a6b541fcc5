import { t } from '../texts/texts.ts'
import { VideoView } from '../video/video-view.tsx'
import styles from './camera-strip.module.css'
import type { Cameras } from './use-cameras.ts'

/** Small pictures at a time. Each one is a whole stream. */
const MAX_SMALL = 3

/** Shows the cameras that are not the large picture. A click makes one the large picture. */
export function CameraStrip({ cameras }: { cameras: Cameras }) {
  const { others, choose } = cameras
  if (others.length === 0) return null
  return (
    <ul className={styles.strip} aria-label={t('cameras.label')}>
      {others.map(({ name, label, source }, index) => (
        <li key={name}>
          {index < MAX_SMALL && (
            <div className={styles.small}>
              <VideoView source={source} title={label} layout="fill" />
            </div>
          )}
          <button type="button" className={styles.choose} onClick={() => choose(name)}>
            {t('cameras.show', { camera: label })}
          </button>
        </li>
      ))}
    </ul>
  )
}
