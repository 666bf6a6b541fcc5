import type { SubscribeTelemetry, TelemetrySample } from './feed.ts'
import { poseOf, readingsOf } from './readings.ts'
import { TrailMap } from './trail-map.ts'

/** Limits text updates, because layout is expensive. */
const TEXT_INTERVAL_MS = 100
const AGE_INTERVAL_MS = 250
/** An older sample is outdated. */
const STALE_MS = 2_000
const PREVIEW_BYTES = 16

export interface TelemetryPanelElements {
  readonly canvas: HTMLCanvasElement
  /** A `<dl>`. */
  readonly values: HTMLElement
  readonly age: HTMLElement
}

/** Draws samples on animation frames, outside of React. @returns a function that stops drawing */
export function runTelemetryPanel(
  subscribe: SubscribeTelemetry,
  elements: TelemetryPanelElements,
): () => void {
  const map = new TrailMap(elements.canvas)
  const show = createValueList(elements.values)
  let newest: TelemetrySample | undefined
  let drawn: TelemetrySample | undefined
  let textMs = 0
  let ageMs = 0
  let written: TelemetrySample | undefined

  const unsubscribe = subscribe((sample) => {
    newest = sample
    const pose = poseOf(sample.data)
    if (pose) map.addPose(pose)
  })

  function draw(nowMs: number): void {
    frame = requestAnimationFrame(draw)
    if (!newest) return
    if (newest !== drawn) {
      drawn = newest
      map.draw()
    }
    if (newest !== written && nowMs - textMs >= TEXT_INTERVAL_MS) {
      written = newest
      textMs = nowMs
      describe(newest)
    }
    if (nowMs - ageMs >= AGE_INTERVAL_MS) {
      ageMs = nowMs
      writeAge(elements.age, performance.now() - newest.atMs)
    }
  }

  function describe(sample: TelemetrySample): void {
    const pose = poseOf(sample.data)
    elements.canvas.hidden = pose === undefined
    if (pose) {
      const degrees = Math.round((pose.headingRad * 180) / Math.PI)
      const at = `${pose.xM.toFixed(1)} m, ${pose.yM.toFixed(1)} m`
      elements.canvas.setAttribute('aria-label', `Map: the robot is at ${at}, heading ${degrees} degrees`)
    }
    show(sample.bytes ? bytesReadings(sample.bytes) : readingsOf(sample.data))
  }

  let frame = requestAnimationFrame(draw)
  return () => {
    cancelAnimationFrame(frame)
    unsubscribe()
  }
}

function writeAge(element: HTMLElement, ageMs: number): void {
  const stale = ageMs > STALE_MS
  element.textContent = stale
    ? `No telemetry for ${(ageMs / 1000).toFixed(0)} s`
    : `${Math.round(ageMs)} ms old`
  element.toggleAttribute('data-stale', stale)
}

function bytesReadings(bytes: Uint8Array): [string, string][] {
  const first = [...bytes.subarray(0, PREVIEW_BYTES)].map((byte) => byte.toString(16).padStart(2, '0'))
  const more = bytes.length > PREVIEW_BYTES ? ' …' : ''
  return [
    ['Binary sample', `${bytes.length} bytes`],
    ['First bytes', first.join(' ') + more],
  ]
}

/** Writes names and values into a `<dl>` and changes only the affected elements. */
function createValueList(list: HTMLElement): (readings: readonly [string, string][]) => void {
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
