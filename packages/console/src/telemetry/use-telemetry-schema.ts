import { TelemetrySchema } from '@wheelhouse/protocol'
import { useMemo } from 'react'

/** Returns a telemetry schema; null without one, and for one that this page does not understand. Stable while it is equal. */
export function useTelemetrySchema(declared: Record<string, unknown> | null): TelemetrySchema | null {
  // As text: a refetch returns a new object.
  const text = JSON.stringify(declared)
  return useMemo(() => TelemetrySchema.safeParse(JSON.parse(text)).data ?? null, [text])
}
