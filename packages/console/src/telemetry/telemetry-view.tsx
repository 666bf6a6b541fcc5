import { TelemetrySchema } from '@wheelhouse/protocol'
import type { PosePrediction, ReportedPose } from '@wheelhouse/sdk'
import { useEffect, useMemo, useRef } from 'react'
import { decimals } from '../base/format.ts'
import { BLIND_MS } from '../freshness/freshness.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { drawNewest, type SubscribeTelemetry, type TelemetrySample } from './feed.ts'
import { createSampleReader, formatGhost, type Reading, type SampleReader } from './sample-reader.ts'
import { drawSurroundings, type Predict, relativeTo } from './surroundings.ts'
import styles from './telemetry.module.css'
import { createTrailMap } from './trail-map.ts'

/** Where the telemetry of a robot comes from. */
export interface TelemetrySource {
  /** From `createTelemetryFeed()`; stable between renders. */
  readonly subscribe: SubscribeTelemetry
  /** The telemetry that the robot declares; null for none. */
  readonly telemetrySchema: Record<string, unknown> | null
  readonly predict?: Predict | undefined
}

interface Props extends TelemetrySource {
  /** Class names that replace those of the panel, for a page that places its parts itself. */
  readonly classNames?: Readonly<Record<'panel' | 'age' | 'map' | 'proximity' | 'values', string | undefined>>
}

const { panel, age, map, values } = styles
const panelClassNames = { panel, age, map, proximity: map, values }

/**
 * Shows telemetry: a map with pose and trail, the proximity of the robot, all values, and the age of the newest
 * sample.
 */
export function TelemetryView({ subscribe, telemetrySchema, predict, classNames = panelClassNames }: Props) {
  const reader = useSampleReader(telemetrySchema)
  const map = useRef<HTMLCanvasElement>(null)
  const proximity = useRef<HTMLCanvasElement>(null)
  const values = useRef<HTMLDListElement>(null)
  const age = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (!map.current || !proximity.current || !values.current || !age.current) return
    const elements = {
      map: map.current,
      proximity: proximity.current,
      values: values.current,
      age: age.current,
    }
    return runPanel({ subscribe, predict }, reader, elements)
  }, [subscribe, reader, predict])
  return (
    <section className={classNames.panel} aria-label={t('telemetry.view.label')}>
      <p className={classNames.age}>
        {textParts('telemetry.view.age', { age: <span ref={age}>{t('telemetry.view.noData')}</span> })}
      </p>
      <canvas
        ref={map}
        className={classNames.map}
        role="img"
        aria-label={t('telemetry.map.noPosition')}
        hidden
      />
      <canvas
        ref={proximity}
        className={classNames.proximity}
        role="img"
        aria-label={t('telemetry.view.proximity')}
        hidden
      />
      <dl
        ref={values}
        className={classNames.values}
        tabIndex={classNames === panelClassNames ? undefined : 0}
      />
    </section>
  )
}

/** Returns a telemetry schema; null without one, and for one that this page does not understand. Stable while it is equal. */
export function useTelemetrySchema(declared: Record<string, unknown> | null): TelemetrySchema | null {
  // As text: a refetch returns a new object.
  const text = JSON.stringify(declared)
  return useMemo(() => TelemetrySchema.safeParse(JSON.parse(text)).data ?? null, [text])
}

/** Returns the reader of the samples of a robot. Stable while its schema is equal. */
export function useSampleReader(declared: Record<string, unknown> | null): SampleReader {
  const schema = useTelemetrySchema(declared)
  return useMemo(() => createSampleReader(schema), [schema])
}

/** Limits text updates, because layout is expensive. */
const TEXT_INTERVAL_MS = 100
const AGE_INTERVAL_MS = 250
const PREVIEW_BYTES = 16

type PanelElements = Record<'map' | 'proximity', HTMLCanvasElement> & Record<'values' | 'age', HTMLElement>

/** Draws samples on animation frames, outside of React. @returns a function that stops drawing */
function runPanel(
  { subscribe, predict }: Omit<TelemetrySource, 'telemetrySchema'>,
  reader: SampleReader,
  elements: PanelElements,
): () => void {
  const map = createTrailMap(elements.map)
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

  function add(sample: TelemetrySample): void {
    newest = sample
    const pose = reader.pose(sample.data)
    reported = pose ? { ...pose, atMs: sample.atMs } : null
    if (pose) map.addPose(pose)
  }

  function draw(frameMs: number): void {
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
    if (hasContent) drawSurroundings(elements.proximity, { around, predicted, reported, trail: [] })
  }

  function describe(): void {
    written = newest
    wrotePrediction = predicted !== null
    if (reported) elements.map.setAttribute('aria-label', mapText(reported))
    const readings = newest?.bytes ? bytesReadings(newest.bytes) : reader.readings(newest?.data)
    const ghost = predicted && relativeTo(reported, predicted).ghost
    show(ghost ? [...readings, [t('telemetry.reading.predicted'), formatGhost(ghost)]] : readings)
  }

  return drawNewest(subscribe, (_, frameMs) => draw(frameMs), add)
}

const mapText = ({ xM, yM, headingRad }: ReportedPose) =>
  t('telemetry.map.position', {
    x: decimals(xM, 1),
    y: decimals(yM, 1),
    degrees: Math.round((headingRad * 180) / Math.PI),
  })

function writeAge({ age, values, map, proximity }: PanelElements, ageMs: number): void {
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
