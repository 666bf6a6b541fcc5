import { BLIND_MS } from '../live/freshness.ts'
import type { SubscribeTelemetry, TelemetrySample } from '../telemetry/feed.ts'
import type { SampleReader } from '../telemetry/sample-reader.ts'
import { formatBearing } from '../telemetry/sample-reader.ts'
import { atMost, degrees, distance, speed } from './figure-texts.ts'

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
export function runFigures({ subscribe, reader, elements, fullLinearMps }: FiguresOptions): () => void {
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
