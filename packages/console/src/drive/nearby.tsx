import { useEffect, useMemo, useRef } from 'react'
import { IconArrowUp, IconCompass } from '../base/icons.tsx'
import { BLIND_MS } from '../freshness/freshness.ts'
import type { SubscribeTelemetry, TelemetrySample } from '../telemetry/feed.ts'
import {
  createSampleReader,
  formatBearing,
  type Joint,
  type SampleReader,
} from '../telemetry/sample-reader.ts'
import { createSurroundings, type Predict } from '../telemetry/surroundings.ts'
import { useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { atMost, degrees, distance } from './figure-texts.ts'
import styles from './plates.module.css'

interface Props {
  readonly subscribe: SubscribeTelemetry
  readonly telemetrySchema: Record<string, unknown> | null
  readonly predict?: Predict | undefined
}

/** A nearer obstacle is marked. */
const NEAR_M = 1
const TEXT_INTERVAL_MS = 100

/** Shows what is near the robot, with its heading up: obstacles, scan, the driven and the predicted path. For an arm, its gripper. */
export function Nearby({ subscribe, telemetrySchema, predict }: Props) {
  const schema = useTelemetrySchema(telemetrySchema)
  const reader = useMemo(() => createSampleReader(schema), [schema])
  const plate = useRef<HTMLElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const nearest = useRef<HTMLSpanElement>(null)
  const heading = useRef<HTMLSpanElement>(null)
  const arrow = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const [plateElement, canvasElement] = [plate.current, canvas.current]
    const [nearestElement, headingElement, arrowElement] = [nearest.current, heading.current, arrow.current]
    if (!plateElement || !canvasElement || !nearestElement || !headingElement || !arrowElement) return
    return runNearby({
      subscribe,
      reader,
      predict,
      elements: {
        plate: plateElement,
        canvas: canvasElement,
        nearest: nearestElement,
        heading: headingElement,
        arrow: arrowElement,
      },
    })
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
    </section>
  )
}

/** Draws on animation frames, outside of React. @returns a function that stops it */
function runNearby(options: {
  readonly subscribe: SubscribeTelemetry
  readonly reader: SampleReader
  readonly predict: Predict | undefined
  readonly elements: {
    readonly plate: HTMLElement
    readonly canvas: HTMLCanvasElement
    readonly nearest: HTMLElement
    readonly heading: HTMLElement
    /** Points to the nearest obstacle. */
    readonly arrow: HTMLElement
  }
}): () => void {
  const { subscribe, reader, predict, elements } = options
  const surroundings = createSurroundings(elements.canvas, reader)
  let newest: TelemetrySample | undefined
  let writtenMs = 0
  const unsubscribe = subscribe((sample) => {
    newest = sample
    surroundings.add(sample)
  })

  function draw(frameMs: number): void {
    frame = requestAnimationFrame(draw)
    surroundings.draw(predict)
    if (frameMs - writtenMs < TEXT_INTERVAL_MS) return
    writtenMs = frameMs
    const isStale = newest === undefined || performance.now() - newest.atMs >= BLIND_MS
    elements.plate.toggleAttribute('data-stale', isStale)
    const fingers = newest ? reader.joints(newest.data, 'gripper') : []
    const near = newest && reader.nearest(newest.data)
    const pose = newest && reader.pose(newest.data)
    write(elements.nearest, nearestText(near?.distanceM, fingers, newest !== undefined && isStale))
    elements.nearest.title = near
      ? `${t('drive.figures.nearest')}: ${formatBearing(near.bearingRad)}`
      : t('drive.figures.nearest')
    elements.nearest.parentElement?.toggleAttribute(
      'data-near',
      near !== undefined && near.distanceM < NEAR_M,
    )
    elements.arrow.hidden = near === undefined || isStale
    elements.arrow.style.rotate = `${-((near?.bearingRad ?? 0) * 180) / Math.PI}deg`
    write(elements.heading, pose && !isStale ? degrees(pose.headingRad) : '–')
  }

  let frame = requestAnimationFrame(draw)
  return () => {
    cancelAnimationFrame(frame)
    unsubscribe()
  }
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
