import type { Schemas } from '@wheelhouse/sdk'
import { language, t } from '../texts/texts.ts'

export interface Weekday {
  /** ISO 8601: 1 is Monday. */
  readonly weekday: number
  readonly name: string
  /** The abbreviated name. */
  readonly short: string
}

const longName = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' })
const shortName = new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' })

/** The days from Monday to Sunday, in the viewer's language. */
export const weekdays: readonly Weekday[] = Array.from({ length: 7 }, (_, index) => {
  // 1 January 2024 was a Monday.
  const day = Date.UTC(2024, 0, 1 + index)
  return { weekday: index + 1, name: longName.format(day), short: shortName.format(day) }
})

type Slot = Schemas['ScheduleSlot']
interface Schedule {
  readonly timezone: string
  readonly slots: readonly Slot[]
}

/** A slot as typed in the form. Its times may be incomplete. */
export interface DraftSlot extends Readonly<Slot> {
  readonly id: string
}
export interface DraftWeek extends Schedule {
  readonly slots: readonly DraftSlot[]
}

/** The maximum number of slots of a schedule. */
export const MAX_SLOTS = 50
const DAY_MINUTES = 1_440
/** The step of the arrow keys. */
const STEP_MINUTES = 15

export const draftOf = ({ timezone, slots }: Schedule): DraftWeek => ({
  timezone,
  slots: slots.map((slot) => ({ ...slot, id: crypto.randomUUID() })),
})

/** Returns the request body for a draft. Requires a week without problems. */
export const scheduleOf = ({ timezone, slots }: DraftWeek): Schemas['Schedule'] => ({
  timezone,
  slots: slots.map(({ weekday, start, end }) => ({
    weekday,
    start: normalizeTime(start),
    end: normalizeTime(end),
  })),
})

/** Returns the minutes since midnight of a time such as `9`, `930` or `09:30`, undefined for other text. */
export function minutesOf(text: string): number | undefined {
  const parts = /^(\d{1,2})(?:[:.h]?(\d\d))?$/.exec(text.trim())
  if (!parts) return undefined
  const [hours, minutes] = [Number(parts[1]), Number(parts[2] ?? 0)]
  const sum = hours * 60 + minutes
  return minutes < 60 && sum <= DAY_MINUTES ? sum : undefined
}

export const timeOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** Returns a time in the format of the platform. Other text stays unchanged. */
export function normalizeTime(text: string): string {
  const minutes = minutesOf(text)
  return minutes === undefined ? text : timeOf(minutes)
}

/** Returns the next or previous quarter hour. */
export function stepTime(text: string, direction: 1 | -1): string {
  const minutes = minutesOf(text)
  if (minutes === undefined) return text
  const next = (direction > 0 ? Math.floor : Math.ceil)(minutes / STEP_MINUTES) + direction
  return timeOf(Math.min(DAY_MINUTES, Math.max(0, next * STEP_MINUTES)))
}

export interface SlotProblem {
  readonly start?: string
  readonly end?: string
}

/** Returns the problems of invalid slots, by slot id. */
export function problemsOf(slots: readonly DraftSlot[]): ReadonlyMap<string, SlotProblem> {
  const problems = new Map<string, SlotProblem>()
  const validSlots: { id: string; weekday: number; from: number; to: number }[] = []
  for (const { id, weekday, start, end } of slots) {
    const [from, to] = [minutesOf(start), minutesOf(end)]
    if (from === undefined || from === DAY_MINUTES) {
      problems.set(id, { start: t('operator.day.badStart') })
    } else if (to === undefined) {
      problems.set(id, { end: t('operator.day.badEnd') })
    } else if (to <= from) {
      problems.set(id, { end: t('operator.day.endBeforeStart') })
    } else validSlots.push({ id, weekday, from, to })
  }
  validSlots.sort((a, b) => a.weekday - b.weekday || a.from - b.from)
  for (const [index, slot] of validSlots.entries()) {
    const before = validSlots
      .slice(0, index)
      .find((earlier) => earlier.weekday === slot.weekday && earlier.to > slot.from)
    if (before) problems.set(slot.id, { start: overlapText(before) })
  }
  return problems
}

const overlapText = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  t('operator.day.overlap', { from: timeOf(from), to: timeOf(to) })

/** Returns a new slot for a day: 9 to 17 on an empty day, otherwise one hour after the last slot. */
export function newSlot(slots: readonly DraftSlot[], weekday: number): DraftSlot {
  const ends = slots.filter((slot) => slot.weekday === weekday).map(({ end }) => minutesOf(end) ?? 0)
  const id = crypto.randomUUID()
  if (ends.length === 0) return { id, weekday, start: '09:00', end: '17:00' }
  const from = Math.min(Math.max(...ends), DAY_MINUTES - 60)
  return { id, weekday, start: timeOf(from), end: timeOf(from + 60) }
}

/** Replaces the slots of other days with copies of the slots of one day. */
export function copyDay(
  slots: readonly DraftSlot[],
  from: number,
  to: readonly number[],
): readonly DraftSlot[] {
  const days = to.filter((day) => day !== from)
  const source = slots.filter((slot) => slot.weekday === from)
  const copies = days.flatMap((weekday) =>
    source.map((slot) => ({ ...slot, weekday, id: crypto.randomUUID() })),
  )
  return [...slots.filter((slot) => !days.includes(slot.weekday)), ...copies]
}

/** Returns whether two weeks are equal, in any order of slots. */
export function sameWeek(a: Schedule, b: Schedule): boolean {
  const text = ({ timezone, slots }: Schedule) =>
    JSON.stringify([
      timezone,
      slots.map((s) => `${s.weekday} ${normalizeTime(s.start)} ${normalizeTime(s.end)}`).sort(),
    ])
  return text(a) === text(b)
}
