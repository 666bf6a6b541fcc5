import { useEffect, useRef } from 'react'
import { IconArrowUp, IconCompass } from '../base/icons.tsx'
import { BLIND_MS } from '../freshness/freshness.ts'
import { drawNewest, type TelemetrySample } from '../telemetry/feed.ts'
import { formatBearing, type Joint } from '../telemetry/sample-reader.ts'
import { createSurroundings } from '../telemetry/surroundings.ts'
import { type TelemetrySource, useSampleReader } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { atMost, degrees, distance } from './figure-texts.ts'
import { GoalStatus, type Goals, useGoalPose } from './goal-map.tsx'
import styles from './plates.module.css'

/** A nearer obstacle is marked. */
const NEAR_M = 1
const TEXT_INTERVAL_MS = 100

interface Props extends TelemetrySource {
  readonly goals: Goals
}

/** Shows what is near the robot, with its heading up: obstacles, scan, the driven and the predicted path, the goal. For an arm, its gripper. */
export function Nearby({ subscribe, telemetrySchema, predict, goals }: Props) {
  const reader = useSampleReader(telemetrySchema)
  const plate = useRef<HTMLElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const nearest = useRef<HTMLSpanElement>(null)
  const heading = useRef<HTMLSpanElement>(null)
  const arrow = useRef<HTMLSpanElement>(null)
  const goal = useGoalPose(goals)
  const shownGoal = useRef(goal)
  useEffect(() => {
    shownGoal.current = goal
  })
  useEffect(() => {
    if (!canvas.current) return
    const surroundings = createSurroundings(canvas.current, reader)
    let writtenMs = 0
    const draw = (newest: TelemetrySample | undefined, frameMs: number) => {
      surroundings.draw(predict, shownGoal.current)
      if (!plate.current || !nearest.current || !heading.current || !arrow.current) return
      if (frameMs - writtenMs < TEXT_INTERVAL_MS) return
      writtenMs = frameMs
      const isStale = newest === undefined || performance.now() - newest.atMs >= BLIND_MS
      plate.current.toggleAttribute('data-stale', isStale)
      const fingers = newest ? reader.joints(newest.data, 'gripper') : []
      const near = newest && reader.nearest(newest.data)
      const pose = newest && reader.pose(newest.data)
      write(nearest.current, nearestText(near?.distanceM, fingers, newest !== undefined && isStale))
      nearest.current.title = near
        ? `${t('drive.figures.nearest')}: ${formatBearing(near.bearingRad)}`
        : t('drive.figures.nearest')
      const isNear = near !== undefined && near.distanceM < NEAR_M
      nearest.current.parentElement?.toggleAttribute('data-near', isNear)
      arrow.current.hidden = near === undefined || isStale
      arrow.current.style.rotate = `${-((near?.bearingRad ?? 0) * 180) / Math.PI}deg`
      write(heading.current, pose && !isStale ? degrees(pose.headingRad) : '–')
    }
    return drawNewest(subscribe, draw, surroundings.add)
  }, [subscribe, reader, predict])
  return (
    <section
      ref={plate}
      className={`${styles.plate} ${styles.nearby}`}
      data-hud="nearby"
      aria-label={t('drive.figures.nearby')}
    >
      <canvas ref={canvas} role="img" aria-label={t('telemetry.view.proximity')} />
      <p className={styles.nearbyText}>
        <span className={styles.nearest}>
          <span ref={arrow} className={styles.arrow}>
            <IconArrowUp size="1.15em" />
          </span>
          <span ref={nearest} title={t('drive.figures.nearest')} data-testid="proximity">
            –
          </span>
        </span>
        <span className={styles.heading}>
          <IconCompass size="1.15em" />
          <span ref={heading} title={t('drive.figures.heading')} data-testid="heading">
            –
          </span>
        </span>
      </p>
      <GoalStatus goals={goals} />
    </section>
  )
}

function nearestText(distanceM: number | undefined, fingers: readonly Joint[], isStale: boolean): string {
  if (isStale) return t('drive.figures.noData')
  if (distanceM !== undefined) return distance(atMost(distanceM))
  const [finger] = fingers
  return finger ? `${finger.name} ${Math.round(finger.value * 1_000)} mm` : '–'
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
