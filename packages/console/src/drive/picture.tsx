import { useEffect, useState } from 'react'
import { useStore } from '../base/store.ts'
import type { LinkAges } from '../freshness/freshness.ts'
import { FreshnessOverlay } from '../freshness/freshness-badge.tsx'
import { type ReadAges, useFreshness } from '../freshness/use-freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import type { SubscribeTelemetry } from '../telemetry/feed.ts'
import type { Predict } from '../telemetry/telemetry-panel.ts'
import { TelemetryView, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import type { Cameras, WatchedCamera } from '../video/use-cameras.ts'
import { VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import cameraStripStyles from './camera-strip.module.css'
import type { Hud } from './hud.tsx'
import styles from './picture.module.css'

interface Props {
  /** Stable between renders. */
  readonly subscribe: SubscribeTelemetry
  /** Returns the ages of the connection to the gateway; stable between renders. */
  readonly readLinkAges: () => LinkAges
  /** Predicts the pose of a robot that the viewer drives. */
  readonly predict?: Predict
  /** Whether the gateway rejects commands because of the picture. */
  readonly isHeld: boolean
  readonly session: SessionDetail
  readonly cameras: Cameras
  readonly hud: Hud
  readonly readAges: ReadAges
  /** Stable between renders. */
  readonly onWatch: (watch: VideoWatch | undefined) => void
  /** Receives the viewers of the small pictures. Stable between renders. */
  readonly onSmallWatches: (cameras: readonly WatchedCamera[]) => void
}

const telemetryClassNames = {
  panel: styles.telemetry,
  age: styles.age,
  map: styles.map,
  proximity: styles.proximity,
  values: styles.values,
}

/** Shows the camera and the map: one fills the window, the other is small. Without a camera the map fills it. */
export function Picture({ session, cameras, hud, readAges, onWatch, onSmallWatches, ...robot }: Props) {
  const schema = useTelemetrySchema(session.telemetry_schema)
  const isMapMain = useStore(hud.mainView) === 'map' || !cameras.main
  const areValuesShown = useStore(hud.areValuesShown)
  return (
    <div
      className={styles.picture}
      data-testid="cockpit-picture"
      data-main={isMapMain ? 'map' : 'camera'}
      data-values={areValuesShown}
    >
      <div className={styles.camera}>
        <VideoView
          source={cameras.main?.source}
          title={t('drive.picture.camera', { robot: session.robot_name })}
          layout="fill"
          readLinkAges={isMapMain ? undefined : robot.readLinkAges}
          onWatch={onWatch}
          isHeld={robot.isHeld}
        />
      </div>
      <CameraStrip cameras={cameras} onWatches={onSmallWatches} />
      <TelemetryView
        subscribe={robot.subscribe}
        schema={schema}
        {...(robot.predict && { predict: robot.predict })}
        classNames={telemetryClassNames}
      />
      {isMapMain && <MapFreshness readAges={readAges} />}
    </div>
  )
}

const MapFreshness = ({ readAges }: { readAges: ReadAges }) => (
  <FreshnessOverlay freshness={useFreshness(readAges)} />
)

/** Small pictures at a time. Each one is a whole stream. */
const MAX_SMALL = 3

interface CameraStripProps {
  readonly cameras: Cameras
  /** Receives the viewers of the small pictures when they change. Stable between renders. */
  readonly onWatches?: ((cameras: readonly WatchedCamera[]) => void) | undefined
}

/** Shows the cameras that are not the large picture. A click makes one the large picture. */
function CameraStrip({ cameras, onWatches }: CameraStripProps) {
  const { others, choose } = cameras
  const [watches, setWatches] = useState<readonly WatchedCamera[]>([])
  useEffect(() => onWatches?.(watches), [watches, onWatches])
  if (others.length === 0) return null
  return (
    <ul className={cameraStripStyles.strip} aria-label={t('cameras.label')}>
      {others.map(({ name, label, source }, index) => (
        <li key={name}>
          {index < MAX_SMALL && (
            <SmallPicture name={name} label={label} source={source} onChange={setWatches} />
          )}
          <button type="button" className={cameraStripStyles.choose} onClick={() => choose(name)}>
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
    <div className={cameraStripStyles.small}>
      <VideoView source={source} title={label} layout="fill" onWatch={setWatch} />
    </div>
  )
}
