import { useEffect, useMemo, useRef } from 'react'
import { decimals } from '../base/format.ts'
import { HudButton } from '../base/hud-button.tsx'
import { useStore } from '../base/store.ts'
import { BLIND_MS } from '../freshness/freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import type { SubscribeTelemetry, TelemetrySample } from '../telemetry/feed.ts'
import { createSampleReader, formatBearing, type SampleReader } from '../telemetry/sample-reader.ts'
import { useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { atMost, degrees, distance, speed } from './figure-texts.ts'
import styles from './figures.module.css'
import { type DrivePreferences, LIMIT_STEP, MIN_SPEED_LIMIT } from './preferences.ts'

interface Props {
  readonly subscribe: SubscribeTelemetry
  /** The telemetry that the robot declares. */
  readonly telemetrySchema: SessionDetail['telemetry_schema']
  /** The speed limit that the viewer sets; undefined for a viewer who does not drive. */
  readonly preferences: Pick<DrivePreferences, 'limit' | 'stepLimit'> | undefined
  /** The speed at a limit of 100 %. */
  readonly fullSpeed: FullSpeed
}

/** Shows the speed with its limit, the heading and the nearest obstacle, all from the telemetry. */
export function Figures({ subscribe, telemetrySchema, preferences, fullSpeed }: Props) {
  const schema = useTelemetrySchema(telemetrySchema)
  const reader = useMemo(() => createSampleReader(schema), [schema])
  const speedText = useRef<HTMLSpanElement>(null)
  const bar = useRef<HTMLDivElement>(null)
  const heading = useRef<HTMLSpanElement>(null)
  const needle = useRef<HTMLSpanElement>(null)
  const proximity = useRef<HTMLSpanElement>(null)
  const bearing = useRef<HTMLSpanElement>(null)
  const fullLinearMps = fullSpeed.linearMps
  useEffect(() => {
    const parts = [speedText, bar, heading, needle, proximity, bearing].map(({ current }) => current)
    if (parts.some((part) => part === null)) return
    const [speed, barPart, headingPart, needlePart, proximityPart, bearingPart] = parts as HTMLElement[]
    const elements = {
      speed: speed as HTMLElement,
      bar: barPart as HTMLElement,
      heading: headingPart as HTMLElement,
      needle: needlePart as HTMLElement,
      proximity: proximityPart as HTMLElement,
      bearing: bearingPart as HTMLElement,
    }
    return runFigures({ subscribe, reader, elements, fullLinearMps })
  }, [subscribe, reader, fullLinearMps])
  return (
    <section className={styles.figures} aria-label={t('drive.figures.label')}>
      <div className={styles.gauge} data-testid="speed">
        <span ref={speedText} className={styles.speed} title={t('drive.figures.speed')}>
          –
        </span>
        {preferences ? (
          <SpeedLimit preferences={preferences} fullSpeed={fullSpeed} bar={bar} />
        ) : (
          <div ref={bar} className={styles.bar} />
        )}
      </div>
      <div className={styles.small}>
        <span ref={needle} className={styles.arrow} aria-hidden="true">
          ↑
        </span>
        <span ref={heading} title={t('drive.figures.heading')} data-testid="heading">
          –
        </span>
      </div>
      <div className={styles.small}>
        <span ref={bearing} className={styles.arrow} aria-hidden="true">
          ↑
        </span>
        <span ref={proximity} title={t('drive.figures.nearest')} data-testid="proximity">
          –
        </span>
      </div>
    </section>
  )
}

/** Sets the speed limit by slider, buttons or the keys [ and ]. The bar behind the slider is the speed. */
function SpeedLimit(props: {
  preferences: NonNullable<Props['preferences']>
  fullSpeed: FullSpeed
  bar: React.RefObject<HTMLDivElement | null>
}) {
  const { preferences, fullSpeed, bar } = props
  const limit = useStore(preferences.limit)
  const text = limitText(limit, fullSpeed)
  return (
    <div className={styles.limit}>
      <HudButton aria-label={t('drive.figures.lower')} hint="[" onClick={() => preferences.stepLimit(-1)}>
        −
      </HudButton>
      <div ref={bar} className={styles.bar}>
        <input
          type="range"
          aria-label={t('drive.figures.limitLabel')}
          aria-valuetext={text}
          title={text}
          min={MIN_SPEED_LIMIT * 100}
          max={100}
          step={LIMIT_STEP * 100}
          value={Math.round(limit * 100)}
          onChange={(event) => preferences.limit.set(Number(event.currentTarget.value) / 100)}
          // The arrow keys drive again after the pointer has set the limit.
          onPointerUp={(event) => event.currentTarget.blur()}
        />
        <span className={styles.limitText}>{limitOf(limit, fullSpeed)}</span>
      </div>
      <HudButton aria-label={t('drive.figures.raise')} hint="]" onClick={() => preferences.stepLimit(1)}>
        +
      </HudButton>
    </div>
  )
}

interface FullSpeed {
  readonly linearMps: number
  readonly angularRadps: number
}

const limitOf = (limit: number, { linearMps }: FullSpeed) =>
  t('drive.figures.limit', { limit: linearMps === 0 ? percent(limit) : speed(limit * linearMps) })

/** Returns a limit as `Speed limit: 50 % (0.20 m/s and 0.20 rad/s)`. */
export const limitText = (limit: number, { linearMps, angularRadps }: FullSpeed) =>
  t('drive.figures.limitText', {
    percent: Math.round(limit * 100),
    linear: decimals(limit * linearMps, 2),
    angular: decimals(limit * angularRadps, 2),
  })

/** Limits text updates, because layout is expensive. */
const TEXT_INTERVAL_MS = 100
/** A nearer obstacle is marked. */
const NEAR_M = 0.5

interface FigureElements {
  readonly speed: HTMLElement
  /** The bar of the speed: its custom property `--share` is 0 to 1. */
  readonly bar: HTMLElement
  readonly heading: HTMLElement
  readonly needle: HTMLElement
  readonly proximity: HTMLElement
  /** Points to the nearest obstacle. */
  readonly bearing: HTMLElement
}

interface FiguresOptions {
  readonly subscribe: SubscribeTelemetry
  readonly reader: SampleReader
  readonly elements: FigureElements
  /** The speed at a speed limit of 100 %. */
  readonly fullLinearMps: number
}

const UNKNOWN = '–'

/** Writes speed, heading and the nearest obstacle on animation frames, outside of React. @returns a function that stops it */
function runFigures({ subscribe, reader, elements, fullLinearMps }: FiguresOptions): () => void {
  let newest: TelemetrySample | undefined
  let writtenMs = 0
  const unsubscribe = subscribe((sample) => {
    newest = sample
  })

  function draw(frameMs: number): void {
    frame = requestAnimationFrame(draw)
    if (frameMs - writtenMs < TEXT_INTERVAL_MS) return
    writtenMs = frameMs
    writeSpeed(newest && reader.speedMps(newest.data))
    writeHeading(newest && reader.pose(newest.data)?.headingRad)
    writeProximity()
    const isStale = newest !== undefined && performance.now() - newest.atMs >= BLIND_MS
    for (const element of [elements.speed, elements.heading, elements.proximity])
      element.toggleAttribute('data-stale', isStale)
  }

  function writeSpeed(mps: number | undefined): void {
    write(elements.speed, mps === undefined ? UNKNOWN : speed(mps))
    const share = mps === undefined || fullLinearMps === 0 ? 0 : Math.abs(mps) / fullLinearMps
    elements.bar.style.setProperty('--share', String(Math.min(1, share)))
  }

  function writeHeading(headingRad: number | undefined): void {
    write(elements.heading, headingRad === undefined ? UNKNOWN : degrees(headingRad))
    // 0 rad is to the right of the map, and angles are counter-clockwise.
    elements.needle.style.rotate = `${90 - ((headingRad ?? 0) * 180) / Math.PI}deg`
  }

  function writeProximity(): void {
    const nearest = newest && reader.nearest(newest.data)
    const isNear = nearest !== undefined && nearest.distanceM < NEAR_M
    const text = nearest && `${distance(atMost(nearest.distanceM))} ${formatBearing(nearest.bearingRad)}`
    write(elements.proximity, text ?? UNKNOWN)
    elements.proximity.toggleAttribute('data-near', isNear)
    elements.bearing.style.rotate = `${-((nearest?.bearingRad ?? 0) * 180) / Math.PI}deg`
  }

  let frame = requestAnimationFrame(draw)
  return () => {
    cancelAnimationFrame(frame)
    unsubscribe()
  }
}

function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
