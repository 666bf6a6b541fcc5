const DAY_MS = 86_400_000

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Returns an instant as a `datetime-local` field shows it in the viewer's zone: `2026-11-25T10:30`. */
export function toWallTime(at: Date): string {
  const date = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`
  return `${date}T${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`
}

/**
 * Returns the instants of a local time in the viewer's zone: usually one, none if clocks skip that time, two (the
 * earlier first) if it occurs twice.
 */
export function instantsOf(wall: string): Date[] {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(wall)?.slice(1).map(Number)
  if (!parts) return []
  const [year, month, day, hour, minute] = parts as [number, number, number, number, number]
  const utcMs = Date.UTC(year, month - 1, day, hour, minute)
  const offsets = [-DAY_MS, DAY_MS].map((ms) => new Date(utcMs + ms).getTimezoneOffset())
  return [...new Set(offsets)]
    .map((offset) => new Date(utcMs + offset * 60_000))
    .filter((at) => toWallTime(at) === wall.slice(0, 16))
    .sort((a, b) => a.getTime() - b.getTime())
}

/** Returns the offset of the viewer's zone at an instant: `UTC+01:00`. */
export function offsetAt(at: Date): string {
  const minutes = -at.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`
}
