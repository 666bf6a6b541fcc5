import { TelemetrySchema } from '@wheelhouse/protocol'
import { useEffect, useMemo, useRef } from 'react'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import type { SubscribeTelemetry } from './feed.ts'
import { createSampleReader, type SampleReader } from './sample-reader.ts'
import type { Predict } from './surroundings.ts'
import styles from './telemetry.module.css'
import { runTelemetryPanel } from './telemetry-panel.ts'

interface Props {
  /** From `createTelemetryFeed()`; stable between renders. */
  readonly subscribe: SubscribeTelemetry
  /** The telemetry that the robot declares, stable between renders; null for none. */
  readonly schema: TelemetrySchema | null
  /** Stable between renders. */
  readonly predict?: Predict
  /** Class names that replace those of the panel, for a page that places its parts itself. */
  readonly classNames?: Readonly<Record<'panel' | 'age' | 'map' | 'proximity' | 'values', string | undefined>>
}

const { panel, age, map, values } = styles
const panelClassNames = { panel, age, map, proximity: map, values }

/**
 * Shows telemetry: a map with pose and trail, the proximity of the robot, all values, and the age of the newest
 * sample.
 */
export function TelemetryView({ subscribe, schema, predict, classNames = panelClassNames }: Props) {
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
    return runTelemetryPanel({ subscribe, reader: createSampleReader(schema), elements, predict })
  }, [subscribe, schema, predict])
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
