import { FreshnessOverlay } from '../live/freshness-overlay.tsx'
import type { ReadAges } from '../live/freshness-sampler.ts'
import { useFreshness } from '../live/use-freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { TelemetryView } from '../telemetry/telemetry-view.tsx'
import { useTelemetrySchema } from '../telemetry/use-telemetry-schema.ts'
import { useStore } from '../ui/store.ts'
import { VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import type { Cockpit } from './cockpit.ts'
import type { Hud } from './hud.ts'
import styles from './picture.module.css'

interface Props {
  readonly cockpit: Cockpit
  readonly session: SessionDetail
  readonly hud: Hud
  readonly readAges: ReadAges
  /** Stable between renders. */
  readonly onWatch: (watch: VideoWatch | undefined) => void
}

const telemetryClassNames = {
  panel: styles.telemetry,
  age: styles.age,
  map: styles.map,
  proximity: styles.proximity,
  values: styles.values,
}

/** Shows the camera and the map: one fills the window, the other is small. Without a camera the map fills it. */
export function Picture({ cockpit, session, hud, readAges, onWatch }: Props) {
  const { operatorConnection, predict } = cockpit
  const schema = useTelemetrySchema(session.telemetry_schema)
  const isMapMain = useStore(hud.mainView) === 'map' || !session.stream_url
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
          url={session.stream_url}
          title={`Camera of ${session.robot_name}`}
          layout="fill"
          readLinkAges={isMapMain ? undefined : operatorConnection.ages}
          onWatch={onWatch}
          isHeld={useStore(operatorConnection.state)?.stop?.reason === 'video_stale'}
        />
      </div>
      <TelemetryView
        subscribe={operatorConnection.telemetry.subscribe}
        schema={schema}
        predict={predict}
        classNames={telemetryClassNames}
      />
      {isMapMain && <MapFreshness readAges={readAges} />}
    </div>
  )
}

const MapFreshness = ({ readAges }: { readAges: ReadAges }) => (
  <FreshnessOverlay freshness={useFreshness(readAges)} />
)
