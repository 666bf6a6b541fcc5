import { sessionStatusTexts } from '@wheelhouse/protocol'
import { dateTime } from '../ui/format.ts'
import type { StoredExport } from './use-exports.ts'

/** The steps at which progress is announced to screen readers, in percent. */
const ANNOUNCED_STEP = 25

/** Returns which sessions an export contains. `robotName` is undefined when it is not known. */
export function filterText(
  { search, status, robotId, from, to }: StoredExport['filter'],
  robotName?: string,
): string {
  const parts = [
    search && `search "${search}"`,
    status && `status ${sessionStatusTexts[status]}`,
    robotId && (robotName ?? 'one robot'),
    from && `created from ${startText(from)}`,
    to && `created ${endText(to)}`,
  ].filter((part) => part)
  return parts.length === 0 ? 'All sessions' : `Sessions: ${parts.join(', ')}`
}

/** Returns how much of an export is written, in percent. The total is an estimate, so 100 means ready. */
export const percentOf = ({ rows, total_rows }: StoredExport): number =>
  total_rows === 0 ? 0 : Math.min(99, Math.floor((100 * rows) / total_rows))

/** Returns what a screen reader announces about an export. It changes only a few times. */
export function announcementOf(stored: StoredExport): string {
  const name = `${stored.format.toUpperCase()} export`
  if (stored.status === 'READY') return `${name} is ready.`
  if (stored.status === 'FAILED') return `${name} failed.`
  const percent = Math.floor(percentOf(stored) / ANNOUNCED_STEP) * ANNOUNCED_STEP
  return percent === 0 ? `${name} is running.` : `${name}: ${percent} % written.`
}

const isMidnight = (at: Date) => at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0
const day = (at: Date) =>
  new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' }).format(at)

const startText = (from: string) => (isMidnight(new Date(from)) ? day(new Date(from)) : dateTime(from))

/** Returns the exclusive end; an end at midnight as the last day. */
function endText(to: string): string {
  const end = new Date(to)
  return isMidnight(end) ? `until ${day(new Date(end.getTime() - 1))}` : `before ${dateTime(to)}`
}
