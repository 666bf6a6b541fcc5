import { useEffect } from 'react'
import { DELAYED_MS } from '../live/freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { createSampleReader } from '../telemetry/sample-reader.ts'
import { useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { isAtRest } from './axes.ts'
import type { Cockpit } from './cockpit.ts'

const PERIOD_MS = 400
const PULSE_MS = 150
/** From this distance on, the pulse grows towards the obstacle. */
const NEAR_M = 0.8

/** Lets gamepad and phone vibrate while the operator drives towards something near, or with data that is late. */
export function useHaptics(cockpit: Cockpit, session: SessionDetail): void {
  const schema = useTelemetrySchema(session.telemetry_schema)
  useEffect(() => {
    const { operatorConnection, preferences, gamepad, axes } = cockpit
    const reader = createSampleReader(schema)
    let newest: unknown
    const unsubscribe = operatorConnection.telemetry.subscribe(({ data }) => {
      newest = data
    })
    const timer = setInterval(() => {
      if (!preferences.controls.get().rumbles || isAtRest(axes.get())) return
      const { linkMs, telemetryMs = 0 } = operatorConnection.ages()
      const isLate = Math.max(linkMs, telemetryMs) >= DELAYED_MS
      const strength = isLate ? 1 : nearness(reader.nearest(newest)?.distanceM)
      if (strength === 0) return
      gamepad.rumble(strength, PULSE_MS)
      navigator.vibrate?.(PULSE_MS * strength)
    }, PERIOD_MS)
    return () => {
      clearInterval(timer)
      unsubscribe()
    }
  }, [cockpit, schema])
}

/** Returns how near an obstacle is: 0 from `NEAR_M` on, 1 for contact. */
const nearness = (distanceM = NEAR_M): number => Math.min(1, Math.max(0, 1 - distanceM / NEAR_M))
