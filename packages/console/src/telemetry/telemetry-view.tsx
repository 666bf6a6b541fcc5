import { useEffect, useRef } from 'react'
import type { SubscribeTelemetry } from './feed.ts'
import styles from './telemetry.module.css'
import { runTelemetryPanel } from './telemetry-panel.ts'

/**
 * Shows telemetry: a map with pose and trail, all values, and the age of the newest sample. `subscribe` comes from
 * `createTelemetryFeed()` and must be stable between renders.
 */
export function TelemetryView({ subscribe }: { subscribe: SubscribeTelemetry }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const values = useRef<HTMLDListElement>(null)
  const age = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    if (!canvas.current || !values.current || !age.current) return
    return runTelemetryPanel(subscribe, { canvas: canvas.current, values: values.current, age: age.current })
  }, [subscribe])
  return (
    <section className={styles.panel} aria-label="Telemetry">
      <p className={styles.age}>
        Telemetry: <span ref={age}>no data yet</span>
      </p>
      <canvas ref={canvas} className={styles.map} role="img" aria-label="Map: no position yet" hidden />
      <dl ref={values} className={styles.values} />
    </section>
  )
}
