import { DateTime, IANAZone } from 'luxon'
import { isUrgent } from './digest-policy.ts'
import type { QuietHours } from './settings.schema.ts'

/** Returns when the quiet period that contains `at` ends, or undefined outside of quiet hours. A pure function. */
export function quietUntil(hours: QuietHours, at: Date): Date | undefined {
  const local = DateTime.fromJSDate(at, { zone: zoneOf(hours.time_zone) })
  // A period that began yesterday can last until today.
  for (const day of [local, local.minus({ days: 1 })]) {
    if (!hours.days.includes(day.weekday)) continue
    const start = atTime(day, hours.start)
    const end = atTime(hours.end > hours.start ? day : day.plus({ days: 1 }), hours.end)
    if (start <= local && local < end) return end.toJSDate()
  }
  return undefined
}

/** Returns until when quiet hours hold a notification of this type back, or undefined if they do not. */
export function heldUntil(hours: QuietHours | null, type: string, at: Date): Date | undefined {
  if (!hours || (hours.safety_passes && isUrgent(type))) return undefined
  return quietUntil(hours, at)
}

function atTime(day: DateTime, time: string): DateTime {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  return day.set({ hour, minute, second: 0, millisecond: 0 })
}

/** Returns a zone by its canonical name: luxon keeps every zone, and users may write an alias in many ways. */
function zoneOf(name: string): IANAZone {
  return IANAZone.create(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone)
}
