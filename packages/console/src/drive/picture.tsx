import type { CameraView } from '@wheelhouse/protocol'
import type { PosePrediction } from '@wheelhouse/sdk'
import { type Dispatch, type RefObject, type SetStateAction, useEffect, useRef, useState } from 'react'
import { useStore } from '../base/store.ts'
import { useTicker } from '../base/time.tsx'
import { ageText, BLIND_MS } from '../freshness/freshness.ts'
import { FreshnessOverlay } from '../freshness/freshness-overlay.tsx'
import { type ReadAges, useFreshness, useFreshnessValue } from '../freshness/use-freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { drawNewest, type SubscribeTelemetry, type TelemetrySample } from '../telemetry/feed.ts'
import { drawFloorPath, type PictureArea } from '../telemetry/floor-path.ts'
import { type Predict, relativeTo } from '../telemetry/surroundings.ts'
import { TelemetryView, useSampleReader, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { fitCanvas } from '../telemetry/trail-map.ts'
import { t } from '../texts/texts.ts'
import type { Cameras, WatchedCamera } from '../video/use-cameras.ts'
import { VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import styles from './cockpit.module.css'
import type { Hud } from './hud.ts'
import plates from './plates.module.css'
import type { RobotView } from './robot-view.ts'

interface Props {
  readonly robot: RobotView
  readonly predict: Predict | undefined
  readonly session: SessionDetail
  readonly cameras: Cameras
  readonly hud: Hud
  readonly readAges: ReadAges
  /** What the robot does, as a rim inside the edge of the picture. */
  readonly rim: 'stopped' | 'paused' | undefined
  /** Stable between renders. */
  readonly onWatch: (watch: VideoWatch | undefined) => void
}

const mapClassNames = {
  panel: styles.contents,
  age: styles.hidden,
  map: styles.map,
  proximity: styles.hidden,
  values: styles.hidden,
}

/** Shows the camera, or the map in its place, with the path of the robot on the floor. Without a camera the map is the picture. */
export function Picture({ robot, predict, session, cameras, hud, readAges, rim, onWatch }: Props) {
  const schema = useTelemetrySchema(session.telemetry_schema)
  const isMap = useStore(hud.mainView) === 'map' || !cameras.main
  const isFilled = useStore(hud.isFilled)
  const frame = useRef<HTMLDivElement>(null)
  return (
    <div
      ref={frame}
      className={styles.picture}
      data-testid="cockpit-picture"
      data-main={isMap ? 'map' : 'camera'}
      data-fit={isFilled ? 'cover' : 'contain'}
      data-rim={rim}
    >
      {isMap && (
        <TelemetryView
          subscribe={robot.subscribe}
          telemetrySchema={session.telemetry_schema}
          predict={predict}
          classNames={mapClassNames}
        />
      )}
      <div className={styles.camera} hidden={isMap && cameras.main !== undefined}>
        <VideoView
          source={cameras.main?.source}
          title={t('drive.picture.camera', { robot: session.robot_name })}
          readLinkAges={isMap ? undefined : robot.readLinkAges}
          onWatch={onWatch}
          isHeld={robot.isPictureHeld}
        />
      </div>
      {!isMap && schema?.['x-camera-view'] && (
        <FloorPath
          subscribe={robot.subscribe}
          session={session}
          view={schema['x-camera-view']}
          predict={predict}
          readAges={readAges}
          frame={frame}
        />
      )}
      {isMap && <MapFreshness readAges={readAges} />}
    </div>
  )
}

const MapFreshness = ({ readAges }: { readAges: ReadAges }) => (
  <FreshnessOverlay freshness={useFreshness(readAges)} />
)

/** Draws into the picture where the robot goes, and what is near. Nothing while the picture is blind. */
function FloorPath(
  props: Pick<Props, 'session' | 'predict' | 'readAges'> & {
    subscribe: SubscribeTelemetry
    view: CameraView
    frame: RefObject<HTMLDivElement | null>
  },
) {
  const { subscribe, session, view, predict, readAges, frame } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const state = useFreshnessValue(readAges, (freshness) => freshness.state)
  const reader = useSampleReader(session.telemetry_schema)
  const isBlind = state === 'BLIND' || state === 'CONNECTING'
  const isLate = state === 'DELAYED'
  useEffect(() => {
    const element = canvas.current
    if (!element || isBlind) return
    let drawn: TelemetrySample | undefined
    let before: PosePrediction | null = null
    const end = drawNewest(subscribe, (newest) => {
      const pose = newest && reader.pose(newest.data)
      const reported = pose && newest ? { ...pose, atMs: newest.atMs } : null
      const prediction = predict?.(reported, performance.now()) ?? null
      if (newest === drawn && !prediction && !before) return
      drawn = newest
      before = prediction
      const area = canvas.current && fitCanvas(canvas.current)
      const picture = frame.current && pictureArea(frame.current)
      if (!area || !picture) return
      const isOld = newest !== undefined && performance.now() - newest.atMs >= BLIND_MS
      drawFloorPath(area.context, picture, {
        view,
        prediction: prediction && relativeTo(reported, prediction),
        around: reader.sightings(isOld ? undefined : newest?.data),
        isLate,
      })
    })
    return () => {
      end()
      const area = fitCanvas(element)
      area?.context.clearRect(0, 0, area.width, area.height)
    }
  }, [subscribe, reader, view, predict, isBlind, isLate, frame])
  return (
    <div className={styles.path} aria-hidden="true">
      <canvas ref={canvas} />
    </div>
  )
}

function pictureArea(frame: HTMLElement): PictureArea | undefined {
  const medium = frame.querySelector<HTMLElement>('video, img, canvas[role=img]')
  if (!medium) return undefined
  const [width, height] = intrinsicSize(medium)
  if (width === 0 || height === 0) return undefined
  const { clientWidth, clientHeight } = frame
  const scales = [clientWidth / width, clientHeight / height] as const
  const scale = frame.dataset.fit === 'cover' ? Math.max(...scales) : Math.min(...scales)
  return {
    left: (clientWidth - width * scale) / 2,
    top: (clientHeight - height * scale) / 2,
    width: width * scale,
    height: height * scale,
  }
}

function intrinsicSize(medium: HTMLElement): readonly [width: number, height: number] {
  if (medium instanceof HTMLVideoElement) return [medium.videoWidth, medium.videoHeight]
  if (medium instanceof HTMLImageElement) return [medium.naturalWidth, medium.naturalHeight]
  return medium instanceof HTMLCanvasElement ? [medium.width, medium.height] : [0, 0]
}

/** Small pictures at a time. Each one is a whole stream. */
const MAX_SMALL = 1
const MAX_SMALL_ARM = 2

/** Shows cameras that are not the large picture. A press makes one the large picture. */
export function CameraInsets(props: {
  cameras: Cameras
  /** Whether the robot is an arm, whose operator needs more than one view. */
  isArm: boolean
  /** Receives the viewers of the small pictures when they change. Stable between renders. */
  onWatches: (cameras: readonly WatchedCamera[]) => void
}) {
  const { cameras, isArm, onWatches } = props
  const [watches, setWatches] = useState<readonly WatchedCamera[]>([])
  useEffect(() => onWatches(watches), [watches, onWatches])
  const shown = cameras.others.slice(0, isArm ? MAX_SMALL_ARM : MAX_SMALL)
  if (shown.length === 0) return null
  return (
    <ul className={styles.insets} data-hud="camera" aria-label={t('cameras.label')}>
      {shown.map((camera) => (
        <li key={camera.name} className={`${plates.plate} ${styles.inset}`}>
          <SmallPicture camera={camera} onChange={setWatches} />
          <button
            type="button"
            className={styles.choose}
            aria-label={t('cameras.show', { camera: camera.label })}
            onClick={() => cameras.choose(camera.name)}
          />
        </li>
      ))}
    </ul>
  )
}

/** Shows one camera with its age, and adds its viewer to a list while it is open. */
function SmallPicture(props: {
  camera: Cameras['others'][number]
  onChange: Dispatch<SetStateAction<readonly WatchedCamera[]>>
}) {
  const { onChange } = props
  const { name, label, source } = props.camera
  const [watch, setWatch] = useState<VideoWatch>()
  useEffect(() => {
    if (!watch) return
    const camera = { name, label, watch }
    onChange((before) => [...before, camera])
    return () => onChange((before) => before.filter((other) => other !== camera))
  }, [watch, name, label, onChange])
  return (
    <>
      <div className={styles.insetPicture}>
        <VideoView source={source} title={label} onWatch={setWatch} />
      </div>
      <p className={styles.insetName}>
        {label}
        <span className={styles.insetAge}>{watch && <PictureAge watch={watch} />}</span>
      </p>
    </>
  )
}

const AGE_REFRESH_MS = 500

function PictureAge({ watch }: { watch: VideoWatch }) {
  useTicker(AGE_REFRESH_MS)
  if (useStore(watch.state).phase !== 'showing') return t('drive.picture.none')
  const ageMs = watch.pictureMs()
  return ageMs === 'unknown' ? t('video.age.unknown') : ageText(ageMs)
}
