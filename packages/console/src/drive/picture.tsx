import { CameraStrip } from '../cameras/camera-strip.tsx'
import type { LinkAges } from '../live/freshness.ts'
import { FreshnessOverlay } from '../live/freshness-badge.tsx'
import type { ReadAges } from '../live/use-freshness.ts'
import { useFreshness } from '../live/use-freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import type { SubscribeTelemetry } from '../telemetry/feed.ts'
import type { Predict } from '../telemetry/telemetry-panel.ts'
import { TelemetryView, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { useStore } from '../ui/store.ts'
import type { Cameras, WatchedCamera } from '../video/use-cameras.ts'
import { VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import type { Hud } from './hud.ts'
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
