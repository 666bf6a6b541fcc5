import {
  normalAngle,
  type Pose,
  type PosePrediction,
  type ReportedPose,
  type Sighting,
} from '@wheelhouse/sdk'
import { decimals } from '../base/format.ts'
import { BLIND_MS } from '../freshness/freshness.ts'
import { t } from '../texts/texts.ts'
import type { SubscribeTelemetry, TelemetrySample } from './feed.ts'
import { formatGhost, type Reading, type SampleReader, type Sightings } from './sample-reader.ts'
import { drawPrediction, drawRobot, fitCanvas, type Pixels, type Point, TrailMap } from './trail-map.ts'

/** Limits text updates, because layout is expensive. */
const TEXT_INTERVAL_MS = 100
const AGE_INTERVAL_MS = 250
const PREVIEW_BYTES = 16

interface TelemetryPanelElements {
  /** The map of pose and trail. */
  readonly map: HTMLCanvasElement
  /** The picture of what is around the robot. */
  readonly proximity: HTMLCanvasElement
  /** A `<dl>`. */
  readonly values: HTMLElement
  readonly age: HTMLElement
}

/** Predicts where the robot will be; null while it does not drive. The report is null without a pose in the telemetry. */
export type Predict = (reported: ReportedPose | null, nowMs: number) => PosePrediction | null

interface TelemetryPanelOptions {
  readonly subscribe: SubscribeTelemetry
  readonly reader: SampleReader
  readonly elements: TelemetryPanelElements
  readonly predict?: Predict | undefined
}

/** Draws samples on animation frames, outside of React. @returns a function that stops drawing */
export function runTelemetryPanel({
  subscribe,
  reader,
  elements,
  predict,
}: TelemetryPanelOptions): () => void {
  const map = new TrailMap(elements.map)
  const show = createValueList(elements.values)
  let newest: TelemetrySample | undefined
  let drawn: TelemetrySample | undefined
  let around = reader.sightings(undefined)
  let predicted: PosePrediction | null = null
  let reported: ReportedPose | null = null
  let textMs = 0
  let ageMs = 0
  let written: TelemetrySample | undefined
  let wrotePrediction = false

  const unsubscribe = subscribe((sample) => {
    newest = sample
    const pose = reader.pose(sample.data)
    reported = pose ? { ...pose, atMs: sample.atMs } : null
    if (pose) map.addPose(pose)
  })

  function draw(frameMs: number): void {
    frame = requestAnimationFrame(draw)
    const nowMs = performance.now()
    const before = predicted
    predicted = predict?.(reported, nowMs) ?? null
    if (newest !== drawn || predicted || before) drawPictures()
    const changed = newest !== written || predicted !== null || wrotePrediction
    if (changed && frameMs - textMs >= TEXT_INTERVAL_MS) {
      textMs = frameMs
      describe()
    }
    if (newest && frameMs - ageMs >= AGE_INTERVAL_MS) {
      ageMs = frameMs
      writeAge(elements, nowMs - newest.atMs)
    }
  }

  function drawPictures(): void {
    if (drawn !== newest) around = reader.sightings(newest?.data) // a scan is long, and a prediction draws every frame
    drawn = newest
    // Without a pose the prediction has no map, and is drawn relative to the robot.
    const hasContent = around.scan.length > 0 || around.obstacles.length > 0 || (predicted && !reported)
    elements.map.hidden = reported === null
    elements.proximity.hidden = !hasContent
    if (reported) map.draw(predicted)
    if (hasContent) drawProximity(elements.proximity, around, predicted, reported)
  }

  function describe(): void {
    written = newest
    wrotePrediction = predicted !== null
    if (reported) elements.map.setAttribute('aria-label', mapText(reported))
    const readings = newest?.bytes ? bytesReadings(newest.bytes) : reader.readings(newest?.data)
    const ghost = predicted && relativeTo(reported, predicted).ghost
    show(ghost ? [...readings, [t('telemetry.reading.predicted'), formatGhost(ghost)]] : readings)
  }

  let frame = requestAnimationFrame(draw)
  return () => {
    cancelAnimationFrame(frame)
    unsubscribe()
  }
}

const mapText = ({ xM, yM, headingRad }: ReportedPose) =>
  t('telemetry.map.position', {
    x: decimals(xM, 1),
    y: decimals(yM, 1),
    degrees: Math.round((headingRad * 180) / Math.PI),
  })

function writeAge({ age, values, map, proximity }: TelemetryPanelElements, ageMs: number): void {
  const stale = ageMs >= BLIND_MS
  age.textContent = stale
    ? t('telemetry.age.silent', { seconds: Math.round(ageMs / 1_000) })
    : t('telemetry.age.fresh', { ms: Math.round(ageMs) })
  for (const element of [age, values, map, proximity]) element.toggleAttribute('data-stale', stale)
}

function bytesReadings(bytes: Uint8Array): Reading[] {
  const first = [...bytes.subarray(0, PREVIEW_BYTES)].map((byte) => byte.toString(16).padStart(2, '0'))
  const more = bytes.length > PREVIEW_BYTES ? ' …' : ''
  return [
    [t('telemetry.reading.binary'), t('telemetry.reading.bytes', { bytes: bytes.length })],
    [t('telemetry.reading.firstBytes'), first.join(' ') + more],
  ]
}

/** Writes names and values into a `<dl>` and changes only the affected elements. */
function createValueList(list: HTMLElement): (readings: readonly Reading[]) => void {
  const rows = new Map<string, { row: HTMLElement; value: HTMLElement }>()
  return (readings) => {
    for (const [name, text] of readings) {
      const known = rows.get(name) ?? append(list, name)
      rows.set(name, known)
      if (known.value.textContent !== text) known.value.textContent = text
    }
    if (rows.size === readings.length) return
    const named = new Set(readings.map(([name]) => name))
    for (const [name, { row }] of rows) {
      if (named.has(name)) continue
      row.remove()
      rows.delete(name)
    }
  }
}

function append(list: HTMLElement, name: string) {
  const row = document.createElement('div')
  const [term, value] = [document.createElement('dt'), document.createElement('dd')]
  term.textContent = name
  row.append(term, value)
  list.append(row)
  return { row, value }
}

/** The smallest and the largest distance from the robot to the rim of the canvas. */
const MIN_RANGE_M = 1.5
const MAX_RANGE_M = 8
const MARGIN = 1.1
const RAY_PX = 2
const OBSTACLE_PX = 5
const UP_RAD = Math.PI / 2
const TAU = 2 * Math.PI

/**
 * Draws what is around the robot, seen from above with its heading up: lidar scan, obstacles, and the predicted path
 * relative to the robot.
 * @param reported the pose from which the prediction begins; null for the robot itself
 */
function drawProximity(
  canvas: HTMLCanvasElement,
  { scan, obstacles }: Sightings,
  prediction: PosePrediction | null,
  reported: Pose | null,
): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const rangeM = rangeOf([...scan, ...obstacles])
  const scale = Math.min(width, height) / 2 / rangeM
  const toPixels = ({ xM, yM }: Point): Pixels => [width / 2 - yM * scale, height / 2 - xM * scale]
  drawRings(context, [width / 2, height / 2], scale, rangeM)
  drawDots(context, scan, RAY_PX, toPixels)
  drawDots(context, obstacles, OBSTACLE_PX, toPixels)
  drawRobot(context, [width / 2, height / 2], UP_RAD)
  if (prediction)
    drawPrediction(context, relativeTo(reported, prediction), toPixels, (pose) => UP_RAD + pose.headingRad)
}

function rangeOf(sightings: readonly Sighting[]): number {
  let farthestM = MIN_RANGE_M
  for (const { distanceM } of sightings) farthestM = Math.max(farthestM, distanceM * MARGIN)
  return Math.min(farthestM, MAX_RANGE_M)
}

/** Draws a circle for every metre. */
function drawRings(context: CanvasRenderingContext2D, [x, y]: Pixels, scale: number, rangeM: number): void {
  context.globalAlpha = 0.15
  context.lineWidth = 1
  for (let metre = 1; metre <= rangeM; metre++) {
    context.beginPath()
    context.arc(x, y, metre * scale, 0, TAU)
    context.stroke()
  }
  context.globalAlpha = 1
}

function drawDots(
  context: CanvasRenderingContext2D,
  sightings: readonly Sighting[],
  radiusPx: number,
  toPixels: (point: Point) => Pixels,
): void {
  for (const { distanceM, bearingRad } of sightings) {
    const point = { xM: distanceM * Math.cos(bearingRad), yM: distanceM * Math.sin(bearingRad) }
    context.beginPath()
    context.arc(...toPixels(point), radiusPx, 0, TAU)
    context.fill()
  }
}

/** Returns a prediction as the robot sees it: from (0, 0) with heading 0. */
function relativeTo(reported: Pose | null, prediction: PosePrediction): PosePrediction {
  if (reported === null) return prediction
  const { inFlight, ghost, ahead } = prediction
  const [cos, sin] = [Math.cos(reported.headingRad), Math.sin(reported.headingRad)]
  const relative = ({ xM, yM, headingRad }: Pose): Pose => {
    const [dx, dy] = [xM - reported.xM, yM - reported.yM]
    return {
      xM: dx * cos + dy * sin,
      yM: dy * cos - dx * sin,
      headingRad: normalAngle(headingRad - reported.headingRad),
    }
  }
  return { inFlight: inFlight.map(relative), ghost: relative(ghost), ahead: ahead.map(relative) }
}
